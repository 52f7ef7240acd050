// Members, calls and `new`: a value and what follows it.

import type * as ast from './ast.js';
import { type Call, type CoverExpression, type Index, itemsOf, type Member } from './cover.js';
import { endOf, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { args } from './refine-bracket.js';
import { expression } from './refine-expression.js';
import { identifier } from './refine-literal.js';

export function chain(r: Refinement, cover: CoverExpression): ast.Expression {
  const suffixes: (Member | Index | Call)[] = [];
  let base = cover;
  for (; base.type === 'member' || base.type === 'index' || base.type === 'call'; base = base.object) suffixes.push(base);
  suffixes.reverse();
  const news = base.type === 'created' ? itemsOf(base.news) : [];
  const primary = base.type === 'created' ? base.primary : base;
  return r.deeper(suffixes.length + news.length, startOf(primary), () => {
    let start = startOf(primary);
    let node = expression(r, primary);
    let end = endOf(primary);
    let optional = false;
    for (const suffix of suffixes) {
      end = endOf(suffix);
      const created = suffix.type === 'call' && !suffix.optional ? news.pop() : undefined;
      if (created) {
        start = created.start;
        node = { type: 'NewExpression', start, end, callee: node, arguments: args(r, (suffix as Call).args) };
        continue;
      }
      const skips = suffix.type === 'member' ? suffix.dot.raw === '?.' : suffix.optional;
      if (skips && news.length > 0) r.report('FLOW_OPTIONAL_NEW', startOf(cover), end);
      optional ||= skips;
      node = suffixed(r, suffix, node, start, skips);
    }
    for (let sign = news.pop(); sign; sign = news.pop()) {
      start = sign.start;
      node = { type: 'NewExpression', start, end, callee: node, arguments: [] };
    }
    return optional ? { type: 'ChainExpression', start, end, expression: node as ast.MemberExpression } : node;
  });
}

function suffixed(r: Refinement, suffix: Member | Index | Call, object: ast.Expression, start: number, optional: boolean): ast.Expression {
  const end = endOf(suffix);
  switch (suffix.type) {
    case 'member':
      return { type: 'MemberExpression', start, end, object, property: identifier(r, suffix.name), computed: false, optional };
    case 'index': {
      const property = r.deeper(1, end, () => expression(r, suffix.index));
      return { type: 'MemberExpression', start, end, object, property, computed: true, optional };
    }
    case 'call':
      return { type: 'CallExpression', start, end, callee: object, arguments: args(r, suffix.args), optional };
  }
}
