// The entry of the parser: source in, syntax tree and faults out.

import nearley from 'nearley';
import { type Fault, faultOf } from '../diagnostics/fault.js';
import { FlowError } from '../errors.js';
import { DEFAULT_LIMITS } from '../limits.js';
import type { Program } from './ast.js';
import { findBidi } from './bidi.js';
import type { CoverStatement, List } from './cover.js';
import { Feed } from './feed.js';
import compiledGrammar from './grammar.js';
import { Tokens } from './lexer.js';
import { refine } from './refine.js';

/** Limits of a source. */
export interface ParseLimits {
  sourceLength?: number;
  nestingDepth?: number;
}

export interface ParseResult {
  /** The tree; `null` as soon as anything is wrong with the syntax of the source. */
  ast: Program | null;
  /** What could be read of a broken source, to check the rest of it too; `null` when parsing was abandoned or `ast` is there. */
  partial: Program | null;
  /** Everything that is wrong, in no order. */
  faults: Fault[];
}

/** A tree may be this many times deeper than its brackets: operators, members and `else if` nest without them. */
const LEVELS_PER_BRACKET = 4;

const grammar = nearley.Grammar.fromCompiled({
  ...compiledGrammar,
  ParserRules: compiledGrammar.ParserRules.map(byTypeAlone),
} as nearley.CompiledRules);

/** Parses a flow. Never throws because of the source: what is wrong with it is in `faults`. */
export function parse(source: string, limits: ParseLimits = {}): ParseResult {
  const sourceLength = limits.sourceLength ?? DEFAULT_LIMITS.sourceLength;
  const nestingDepth = limits.nestingDepth ?? DEFAULT_LIMITS.nestingDepth;
  if (source.length > sourceLength) {
    const fault = faultOf('FLOW_SOURCE_TOO_LONG', 0, 0, { length: String(source.length), limit: String(sourceLength) });
    return { ast: null, partial: null, faults: [fault] };
  }
  const { statements, faults, whole } = read(source, nestingDepth);
  const refined = statements === undefined ? { ast: null, faults: [] } : refine(statements, source, nestingDepth * LEVELS_PER_BRACKET);
  const all = [...findBidi(source), ...faults, ...refined.faults];
  if (all.length === 0 && whole) return { ast: refined.ast, partial: null, faults: [] };
  return { ast: null, partial: refined.ast, faults: all };
}

/** Runs the grammar. No statements when parsing was abandoned. */
function read(source: string, nestingDepth: number): { statements?: List<CoverStatement> | null; faults: Fault[]; whole: boolean } {
  const feed = new Feed(new Tokens(source), nestingDepth);
  const parser = new nearley.Parser(grammar, { lexer: feed as unknown as nearley.Lexer });
  feed.attach(parser);
  parser.feed('');
  if (feed.gaveUp) return { faults: feed.faults, whole: false };
  if (parser.results.length !== 1) {
    throw new FlowError(
      'FLOW_AMBIGUOUS',
      `The grammar read the source in ${parser.results.length} ways instead of one. This is a bug in Flow: please report it with the source.`,
    );
  }
  return { statements: parser.results[0], faults: feed.faults, whole: feed.faults.length === 0 };
}

/** Literals of the grammar are types of tokens too; symbols of the same shape make nearley's innermost loop faster. */
function byTypeAlone(rule: nearley.ParserRule): nearley.ParserRule {
  return {
    ...rule,
    symbols: rule.symbols.map((symbol) => (typeof symbol === 'string' ? symbol : { type: symbol.type ?? symbol.literal })),
  };
}
