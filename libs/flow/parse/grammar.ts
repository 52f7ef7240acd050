// Generated automatically by nearley, version 2.20.1
// http://github.com/Hardmath123/nearley
// Bypasses TS6133. Allow declared but unused functions.
// @ts-ignore
function id(d: any[]): any { return d[0]; }
declare var eof: any;
declare var of: any;
declare var forIn: any;
declare var name: any;
declare var forSemi: any;
declare var declare: any;
declare var empty: any;
declare var semi: any;
declare var functionDecl: any;
declare var jump: any;
declare var exit: any;
declare var lblock: any;
declare var doSemi: any;
declare var workflow: any;
declare var assignOp: any;
declare var asyncName: any;
declare var binop: any;
declare var postfix: any;
declare var prefix: any;
declare var key: any;
declare var atom: any;
declare var tplTail: any;
declare var functionExpr: any;
declare var tplHead: any;
declare var tplMid: any;
declare var lobj: any;
declare var asyncKey: any;

import * as cover from './cover.js';
// nearley asks the lexer whether `%name` is a token; every one used below is.
const lexer = { has: (_type: string) => true, reset() {}, next: () => undefined, save: () => undefined, formatError: () => '' };

interface NearleyToken {
  value: any;
  [key: string]: any;
};

interface NearleyLexer {
  reset: (chunk: string, info: any) => void;
  next: () => NearleyToken | undefined;
  save: () => any;
  formatError: (token: never) => string;
  has: (tokenType: string) => boolean;
};

interface NearleyRule {
  name: string;
  symbols: NearleySymbol[];
  postprocess?: (d: any[], loc?: number, reject?: {}) => any;
};

type NearleySymbol = string | { literal: any } | { test: (token: any) => boolean };

interface Grammar {
  Lexer: NearleyLexer | undefined;
  ParserRules: NearleyRule[];
  ParserStart: string;
};

const grammar: Grammar = {
  Lexer: lexer,
  ParserRules: [
    {"name": "program", "symbols": [(lexer.has("eof") ? {type: "eof"} : eof)], "postprocess": cover.emptyProgram},
    {"name": "program", "symbols": ["statements", (lexer.has("eof") ? {type: "eof"} : eof)], "postprocess": id},
    {"name": "statements", "symbols": ["statement"], "postprocess": cover.one},
    {"name": "statements", "symbols": ["statements", "statement"], "postprocess": cover.more},
    {"name": "statement", "symbols": ["leaf"], "postprocess": id},
    {"name": "statement", "symbols": ["heads", "leaf"], "postprocess": cover.headed},
    {"name": "statement", "symbols": ["statement", {"literal":"else"}, "leaf"], "postprocess": cover.elseLeaf},
    {"name": "statement", "symbols": ["statement", {"literal":"else"}, "heads", "leaf"], "postprocess": cover.elseHeaded},
    {"name": "heads", "symbols": ["head"], "postprocess": cover.one},
    {"name": "heads", "symbols": ["heads", "head"], "postprocess": cover.more},
    {"name": "head", "symbols": [{"literal":"if"}, {"literal":"("}, "expression", {"literal":")"}], "postprocess": cover.testHead},
    {"name": "head", "symbols": [{"literal":"while"}, {"literal":"("}, "expression", {"literal":")"}], "postprocess": cover.testHead},
    {"name": "head", "symbols": [{"literal":"for"}, {"literal":"("}, "forInit", "forTest", "forUpdate"], "postprocess": cover.forHead},
    {"name": "head", "symbols": [{"literal":"for"}, {"literal":"("}, "forLeft", (lexer.has("of") ? {type: "of"} : of), "assign", {"literal":")"}], "postprocess": cover.forEachHead},
    {"name": "head", "symbols": [{"literal":"for"}, {"literal":"("}, "forLeft", (lexer.has("forIn") ? {type: "forIn"} : forIn), "expression", {"literal":")"}], "postprocess": cover.forEachHead},
    {"name": "head", "symbols": [(lexer.has("name") ? {type: "name"} : name), {"literal":":"}], "postprocess": cover.labelHead},
    {"name": "forInit", "symbols": [(lexer.has("forSemi") ? {type: "forSemi"} : forSemi)], "postprocess": cover.nothing},
    {"name": "forInit", "symbols": ["expression", (lexer.has("forSemi") ? {type: "forSemi"} : forSemi)], "postprocess": id},
    {"name": "forInit", "symbols": ["declaration", (lexer.has("forSemi") ? {type: "forSemi"} : forSemi)], "postprocess": id},
    {"name": "forTest", "symbols": [(lexer.has("forSemi") ? {type: "forSemi"} : forSemi)], "postprocess": cover.nothing},
    {"name": "forTest", "symbols": ["expression", (lexer.has("forSemi") ? {type: "forSemi"} : forSemi)], "postprocess": id},
    {"name": "forUpdate", "symbols": [{"literal":")"}], "postprocess": cover.nothing},
    {"name": "forUpdate", "symbols": ["expression", {"literal":")"}], "postprocess": id},
    {"name": "forLeft", "symbols": ["chain"], "postprocess": id},
    {"name": "forLeft", "symbols": [(lexer.has("declare") ? {type: "declare"} : declare), "target"], "postprocess": cover.forBinding},
    {"name": "leaf", "symbols": ["block"], "postprocess": id},
    {"name": "leaf", "symbols": [(lexer.has("empty") ? {type: "empty"} : empty)], "postprocess": id},
    {"name": "leaf", "symbols": ["expression", (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.expressionStatement},
    {"name": "leaf", "symbols": ["declaration", (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.declarationStatement},
    {"name": "leaf", "symbols": [(lexer.has("functionDecl") ? {type: "functionDecl"} : functionDecl), (lexer.has("name") ? {type: "name"} : name), "parens", "block"], "postprocess": cover.namedFunction},
    {"name": "leaf", "symbols": [(lexer.has("jump") ? {type: "jump"} : jump), (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.jump},
    {"name": "leaf", "symbols": [(lexer.has("jump") ? {type: "jump"} : jump), (lexer.has("name") ? {type: "name"} : name), (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.jumpWith},
    {"name": "leaf", "symbols": [(lexer.has("exit") ? {type: "exit"} : exit), (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.jump},
    {"name": "leaf", "symbols": [(lexer.has("exit") ? {type: "exit"} : exit), "expression", (lexer.has("semi") ? {type: "semi"} : semi)], "postprocess": cover.jumpWith},
    {"name": "leaf", "symbols": [{"literal":"try"}, "block", "catch"], "postprocess": cover.tryStatement},
    {"name": "leaf", "symbols": [{"literal":"try"}, "block", "finally"], "postprocess": cover.tryFinally},
    {"name": "leaf", "symbols": [{"literal":"try"}, "block", "catch", "finally"], "postprocess": cover.tryStatement},
    {"name": "leaf", "symbols": [{"literal":"switch"}, {"literal":"("}, "expression", {"literal":")"}, (lexer.has("lblock") ? {type: "lblock"} : lblock), {"literal":"}"}], "postprocess": cover.emptySwitch},
    {"name": "leaf", "symbols": [{"literal":"switch"}, {"literal":"("}, "expression", {"literal":")"}, (lexer.has("lblock") ? {type: "lblock"} : lblock), "cases", {"literal":"}"}], "postprocess": cover.switchStatement},
    {"name": "leaf", "symbols": [{"literal":"do"}, "statement", {"literal":"while"}, {"literal":"("}, "expression", {"literal":")"}, (lexer.has("doSemi") ? {type: "doSemi"} : doSemi)], "postprocess": cover.doStatement},
    {"name": "leaf", "symbols": [(lexer.has("workflow") ? {type: "workflow"} : workflow), "parens", "block"], "postprocess": cover.entry},
    {"name": "block", "symbols": [(lexer.has("lblock") ? {type: "lblock"} : lblock), "inBlock"], "postprocess": cover.block},
    {"name": "inBlock", "symbols": [{"literal":"}"}], "postprocess": cover.closed},
    {"name": "inBlock", "symbols": ["statements", {"literal":"}"}], "postprocess": cover.filled},
    {"name": "catch", "symbols": [{"literal":"catch"}, "block"], "postprocess": cover.bareCatch},
    {"name": "catch", "symbols": [{"literal":"catch"}, {"literal":"("}, "target", {"literal":")"}, "block"], "postprocess": cover.boundCatch},
    {"name": "finally", "symbols": [{"literal":"finally"}, "block"], "postprocess": cover.second},
    {"name": "cases", "symbols": ["case"], "postprocess": cover.one},
    {"name": "cases", "symbols": ["cases", "case"], "postprocess": cover.more},
    {"name": "case", "symbols": ["caseHead"], "postprocess": cover.emptyCase},
    {"name": "case", "symbols": ["caseHead", "statements"], "postprocess": cover.fullCase},
    {"name": "caseHead", "symbols": [{"literal":"case"}, "expression", {"literal":":"}], "postprocess": cover.caseHead},
    {"name": "caseHead", "symbols": [{"literal":"default"}, {"literal":":"}], "postprocess": cover.defaultHead},
    {"name": "declaration", "symbols": [(lexer.has("declare") ? {type: "declare"} : declare), "declarators"], "postprocess": cover.declaration},
    {"name": "declarators", "symbols": ["declarator"], "postprocess": cover.one},
    {"name": "declarators", "symbols": ["declarators", {"literal":","}, "declarator"], "postprocess": cover.moreAfterComma},
    {"name": "declarator", "symbols": ["target"], "postprocess": cover.declarator},
    {"name": "declarator", "symbols": ["target", {"literal":"="}, "assign"], "postprocess": cover.declarator},
    {"name": "target", "symbols": [(lexer.has("name") ? {type: "name"} : name)], "postprocess": id},
    {"name": "target", "symbols": ["array"], "postprocess": id},
    {"name": "target", "symbols": ["object"], "postprocess": id},
    {"name": "expression", "symbols": ["assign"], "postprocess": id},
    {"name": "expression", "symbols": ["expression", {"literal":","}, "assign"], "postprocess": cover.sequence},
    {"name": "assign", "symbols": ["binary"], "postprocess": id},
    {"name": "assign", "symbols": ["assignHeads", "binary"], "postprocess": cover.assign},
    {"name": "assign", "symbols": ["arrowBlock"], "postprocess": id},
    {"name": "assign", "symbols": ["assignHeads", "arrowBlock"], "postprocess": cover.assign},
    {"name": "assignHeads", "symbols": ["assignHead"], "postprocess": cover.one},
    {"name": "assignHeads", "symbols": ["assignHeads", "assignHead"], "postprocess": cover.more},
    {"name": "assignHead", "symbols": ["chain", {"literal":"="}], "postprocess": cover.assignHead},
    {"name": "assignHead", "symbols": ["chain", (lexer.has("assignOp") ? {type: "assignOp"} : assignOp)], "postprocess": cover.assignHead},
    {"name": "assignHead", "symbols": ["binary", {"literal":"?"}, "assign", {"literal":":"}], "postprocess": cover.conditionHead},
    {"name": "assignHead", "symbols": ["arrowStart"], "postprocess": id},
    {"name": "arrowBlock", "symbols": ["arrowStart", "block"], "postprocess": cover.arrowBlock},
    {"name": "arrowStart", "symbols": ["chain", {"literal":"=>"}], "postprocess": cover.arrowStart},
    {"name": "arrowStart", "symbols": [(lexer.has("asyncName") ? {type: "asyncName"} : asyncName), {"literal":"=>"}], "postprocess": cover.arrowStart},
    {"name": "binary", "symbols": ["operand"], "postprocess": id},
    {"name": "binary", "symbols": ["binary", (lexer.has("binop") ? {type: "binop"} : binop), "operand"], "postprocess": cover.binary},
    {"name": "operand", "symbols": ["chain"], "postprocess": id},
    {"name": "operand", "symbols": ["prefixes", "chain"], "postprocess": cover.prefixed},
    {"name": "operand", "symbols": ["chain", (lexer.has("postfix") ? {type: "postfix"} : postfix)], "postprocess": cover.postfixed},
    {"name": "operand", "symbols": ["prefixes", "chain", (lexer.has("postfix") ? {type: "postfix"} : postfix)], "postprocess": cover.prefixed},
    {"name": "prefixes", "symbols": [(lexer.has("prefix") ? {type: "prefix"} : prefix)], "postprocess": cover.one},
    {"name": "prefixes", "symbols": ["prefixes", (lexer.has("prefix") ? {type: "prefix"} : prefix)], "postprocess": cover.more},
    {"name": "chain", "symbols": ["primary"], "postprocess": id},
    {"name": "chain", "symbols": ["news", "primary"], "postprocess": cover.created},
    {"name": "chain", "symbols": ["chain", {"literal":"."}, (lexer.has("key") ? {type: "key"} : key)], "postprocess": cover.member},
    {"name": "chain", "symbols": ["chain", {"literal":"?."}, (lexer.has("key") ? {type: "key"} : key)], "postprocess": cover.member},
    {"name": "chain", "symbols": ["chain", {"literal":"["}, "expression", {"literal":"]"}], "postprocess": cover.index},
    {"name": "chain", "symbols": ["chain", {"literal":"?."}, {"literal":"["}, "expression", {"literal":"]"}], "postprocess": cover.optionalIndex},
    {"name": "chain", "symbols": ["chain", "parens"], "postprocess": cover.call},
    {"name": "chain", "symbols": ["chain", {"literal":"?."}, "parens"], "postprocess": cover.optionalCall},
    {"name": "news", "symbols": [{"literal":"new"}], "postprocess": cover.one},
    {"name": "news", "symbols": ["news", {"literal":"new"}], "postprocess": cover.more},
    {"name": "primary", "symbols": [(lexer.has("name") ? {type: "name"} : name)], "postprocess": id},
    {"name": "primary", "symbols": [(lexer.has("atom") ? {type: "atom"} : atom)], "postprocess": id},
    {"name": "primary", "symbols": [(lexer.has("workflow") ? {type: "workflow"} : workflow)], "postprocess": id},
    {"name": "primary", "symbols": ["template", (lexer.has("tplTail") ? {type: "tplTail"} : tplTail)], "postprocess": cover.template},
    {"name": "primary", "symbols": ["array"], "postprocess": id},
    {"name": "primary", "symbols": ["object"], "postprocess": id},
    {"name": "primary", "symbols": ["parens"], "postprocess": id},
    {"name": "primary", "symbols": [(lexer.has("functionExpr") ? {type: "functionExpr"} : functionExpr), "parens", "block"], "postprocess": cover.anonymousFunction},
    {"name": "primary", "symbols": [(lexer.has("functionExpr") ? {type: "functionExpr"} : functionExpr), (lexer.has("name") ? {type: "name"} : name), "parens", "block"], "postprocess": cover.namedFunction},
    {"name": "template", "symbols": [(lexer.has("tplHead") ? {type: "tplHead"} : tplHead), "expression"], "postprocess": cover.templateStart},
    {"name": "template", "symbols": ["template", (lexer.has("tplMid") ? {type: "tplMid"} : tplMid), "expression"], "postprocess": cover.templateMore},
    {"name": "parens", "symbols": [{"literal":"("}, "inParens"], "postprocess": cover.parens},
    {"name": "inParens", "symbols": [{"literal":")"}], "postprocess": cover.closed},
    {"name": "inParens", "symbols": ["items", {"literal":")"}], "postprocess": cover.filled},
    {"name": "inParens", "symbols": ["items", {"literal":","}, {"literal":")"}], "postprocess": cover.filledWithComma},
    {"name": "items", "symbols": ["item"], "postprocess": cover.one},
    {"name": "items", "symbols": ["items", {"literal":","}, "item"], "postprocess": cover.moreAfterComma},
    {"name": "item", "symbols": ["assign"], "postprocess": id},
    {"name": "item", "symbols": [{"literal":"..."}, "assign"], "postprocess": cover.spread},
    {"name": "array", "symbols": [{"literal":"["}, "inArray"], "postprocess": cover.array},
    {"name": "inArray", "symbols": [{"literal":"]"}], "postprocess": cover.closed},
    {"name": "inArray", "symbols": ["untilComma", {"literal":"]"}], "postprocess": cover.filled},
    {"name": "inArray", "symbols": ["untilItem", {"literal":"]"}], "postprocess": cover.filled},
    {"name": "untilComma", "symbols": [{"literal":","}], "postprocess": cover.one},
    {"name": "untilComma", "symbols": ["untilComma", {"literal":","}], "postprocess": cover.more},
    {"name": "untilComma", "symbols": ["untilItem", {"literal":","}], "postprocess": cover.more},
    {"name": "untilItem", "symbols": ["item"], "postprocess": cover.one},
    {"name": "untilItem", "symbols": ["untilComma", "item"], "postprocess": cover.more},
    {"name": "object", "symbols": [(lexer.has("lobj") ? {type: "lobj"} : lobj), "inObject"], "postprocess": cover.object},
    {"name": "inObject", "symbols": [{"literal":"}"}], "postprocess": cover.closed},
    {"name": "inObject", "symbols": ["properties", {"literal":"}"}], "postprocess": cover.filled},
    {"name": "inObject", "symbols": ["properties", {"literal":","}, {"literal":"}"}], "postprocess": cover.filledWithComma},
    {"name": "properties", "symbols": ["property"], "postprocess": cover.one},
    {"name": "properties", "symbols": ["properties", {"literal":","}, "property"], "postprocess": cover.moreAfterComma},
    {"name": "property", "symbols": [(lexer.has("name") ? {type: "name"} : name)], "postprocess": cover.shorthand},
    {"name": "property", "symbols": [(lexer.has("name") ? {type: "name"} : name), {"literal":"="}, "assign"], "postprocess": cover.shorthandDefault},
    {"name": "property", "symbols": ["key", {"literal":":"}, "assign"], "postprocess": cover.pair},
    {"name": "property", "symbols": ["key", "parens", "block"], "postprocess": cover.method},
    {"name": "property", "symbols": [(lexer.has("asyncKey") ? {type: "asyncKey"} : asyncKey), "key", "parens", "block"], "postprocess": cover.asyncMethod},
    {"name": "property", "symbols": [{"literal":"..."}, "assign"], "postprocess": cover.spread},
    {"name": "key", "symbols": [(lexer.has("name") ? {type: "name"} : name)], "postprocess": id},
    {"name": "key", "symbols": [(lexer.has("key") ? {type: "key"} : key)], "postprocess": id},
    {"name": "key", "symbols": [{"literal":"["}, "assign", {"literal":"]"}], "postprocess": cover.computedKey}
  ],
  ParserStart: "program",
};

export default grammar;
