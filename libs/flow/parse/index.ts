// The door of the parser: source text in, syntax tree and diagnostics out.

import nearley from 'nearley';
import { faultOf } from '../check/fault.js';
import { checkSyntax } from '../check/index.js';
import { type Diagnostic, diagnosticAt, type Fault, FlowError } from '../errors.js';
import { DEFAULT_LIMITS } from '../limits.js';
import type { Program } from './ast.js';
import { findBidi } from './bidi.js';
import type { CoverStatement, List } from './cover.js';
import { Feed } from './feed.js';
import compiledGrammar from './grammar.js';
import { Tokens } from './lexer.js';
import { LineMap } from './line-map.js';
import { refine } from './refine.js';

/** What a source may not exceed. */
export interface ParseLimits {
  sourceLength?: number;
  nestingDepth?: number;
}

export interface ParseOptions {
  /** Named in diagnostics. */
  file?: string;
  limits?: ParseLimits;
}

export interface ParseResult {
  /** `null` as soon as anything is wrong with the grammar of the text. */
  ast: Program | null;
  /** Everything that is wrong, in the order of the text. */
  diagnostics: Diagnostic[];
}

/** A tree may be this many times deeper than its brackets: operators, members and `else if` nest without them. */
const LEVELS_PER_BRACKET = 4;

const grammar = nearley.Grammar.fromCompiled({
  ...compiledGrammar,
  ParserRules: compiledGrammar.ParserRules.map(byTypeAlone),
} as nearley.CompiledRules);

/** Parses a flow. Never throws because of the text: what is wrong with it is in `diagnostics`. */
export function parse(source: string, options: ParseOptions = {}): ParseResult {
  const file = options.file ?? 'flow';
  const sourceLength = options.limits?.sourceLength ?? DEFAULT_LIMITS.sourceLength;
  const nestingDepth = options.limits?.nestingDepth ?? DEFAULT_LIMITS.nestingDepth;
  if (source.length > sourceLength) {
    const fault = faultOf('FLOW_SOURCE_TOO_LONG', 0, 0, { length: String(source.length), limit: String(sourceLength) });
    return { ast: null, diagnostics: [diagnosticAt(new LineMap(source.slice(0, 200)), file, fault)] };
  }
  const { statements, faults, whole } = read(source, nestingDepth);
  const refined = statements === undefined ? { ast: null, faults: [] } : refine(statements, source, nestingDepth * LEVELS_PER_BRACKET);
  const all = [...findBidi(source), ...faults, ...refined.faults];
  if (all.length === 0 && whole) return { ast: refined.ast, diagnostics: [] };
  const lines = new LineMap(source);
  const diagnostics = all.map((fault) => diagnosticAt(lines, file, fault));
  // What was read whole is checked too, so that one broken line does not hide the advice on the others.
  if (refined.ast) diagnostics.push(...checkSyntax(refined.ast, source, file));
  return { ast: null, diagnostics: inOrder(diagnostics) };
}

/** Runs the grammar. No statements when reading was given up. */
function read(source: string, nestingDepth: number): { statements?: List<CoverStatement> | null; faults: Fault[]; whole: boolean } {
  const feed = new Feed(new Tokens(source), nestingDepth);
  const parser = new nearley.Parser(grammar, { lexer: feed as unknown as nearley.Lexer });
  feed.attach(parser);
  parser.feed('');
  if (feed.gaveUp) return { faults: feed.faults, whole: false };
  if (parser.results.length !== 1) {
    throw new FlowError(
      'FLOW_AMBIGUOUS',
      `The grammar read the source in ${parser.results.length} ways instead of one. This is a fault of Flow, please report it.`,
    );
  }
  return { statements: parser.results[0], faults: feed.faults, whole: feed.faults.length === 0 };
}

/** Literals of the grammar are types of tokens too; symbols of one shape make nearley's innermost loop faster. */
function byTypeAlone(rule: nearley.ParserRule): nearley.ParserRule {
  return {
    ...rule,
    symbols: rule.symbols.map((symbol) => (typeof symbol === 'string' ? symbol : { type: symbol.type ?? symbol.literal })),
  };
}

function inOrder(diagnostics: Diagnostic[]): Diagnostic[] {
  const sorted = diagnostics.sort((a, b) => a.start - b.start || a.end - b.end);
  return sorted.filter((one, i) => i === 0 || one.start !== sorted[i - 1].start || one.code !== sorted[i - 1].code);
}
