// Names, literals and templates.

import type * as ast from './ast.js';
import { itemsOf, type Template } from './cover.js';
import { cook, numberValue } from './literals.js';
import type { Refinement } from './refine.js';
import { expression } from './refine-expression.js';
import type { Token } from './token.js';

export function identifier(r: Refinement, token: Token): ast.Identifier {
  if (token.kind === 'word' && token.raw !== token.name && !/^[$_\p{ID_Start}][\u200d\u200c$\p{ID_Continue}]*$/u.test(token.name)) {
    r.report('FLOW_ESCAPE', token.start, token.end, { found: token.raw, reason: 'the character is not allowed in a name' });
  }
  return { type: 'Identifier', start: token.start, end: token.end, name: token.name };
}

export function literal(r: Refinement, token: Token): ast.Expression {
  const { kind, raw, start, end } = token;
  const report = (code: Parameters<Refinement['report']>[0], from: number, to: number, words: Record<string, string>) =>
    r.report(code, start + from, start + to, words);
  switch (kind) {
    case 'number': {
      const value = numberValue(raw, report);
      if (value === null) return { type: 'Literal', start, end, value, raw, bigint: raw.slice(0, -1) };
      return { type: 'Literal', start, end, value, raw };
    }
    case 'string': {
      const value = cook(raw.slice(1, -1), (code, from, to, words) => report(code, from + 1, to + 1, words));
      return { type: 'Literal', start, end, value, raw };
    }
    case 'regex': {
      const slash = raw.lastIndexOf('/');
      return { type: 'Literal', start, end, value: null, raw, regex: { pattern: raw.slice(1, slash), flags: raw.slice(slash + 1) } };
    }
    case 'tplFull':
      return { type: 'TemplateLiteral', start, end, expressions: [], quasis: [templateElement(r, token, 1, 1, true)] };
    case 'word':
      if (raw === 'super') r.report('FLOW_THIS', start, end, { name: 'super' });
      if (raw === 'this' || raw === 'super') return { type: 'ThisExpression', start, end };
      return { type: 'Literal', start, end, value: raw === 'null' ? null : raw === 'true', raw };
    default:
      // Already refused; a placeholder for the refused text.
      return { type: 'Literal', start, end, value: null, raw };
  }
}

export function template(r: Refinement, { parts, tail }: Template): ast.TemplateLiteral {
  const texts = itemsOf(parts);
  const first = texts[0].text;
  return r.deeper(1, first.start, () => ({
    type: 'TemplateLiteral',
    start: first.start,
    end: tail.end,
    expressions: texts.map((part) => expression(r, part.expression)),
    quasis: [...texts.map((part) => templateElement(r, part.text, 1, 2, false)), templateElement(r, tail, 1, 1, true)],
  }));
}

function templateElement(r: Refinement, token: Token, before: number, after: number, tail: boolean): ast.TemplateElement {
  const start = token.start + before;
  const end = token.end - after;
  const text = token.raw.slice(before, token.raw.length - after);
  const raw = text.replace(/\r\n?/g, '\n');
  const cooked = cook(raw, (code, from, to, words) => r.report(code, start + from, start + to, words));
  return { type: 'TemplateElement', start, end, value: { raw, cooked }, tail };
}
