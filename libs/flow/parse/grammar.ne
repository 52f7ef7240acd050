# The grammar of Flow, as wide as it must be and no wider: it is a cover grammar over classified tokens.
#
# It is kept small because an Earley parser pays for every rule that could begin at a place. What precedence, patterns,
# arrows, `else` and `new` mean is settled afterwards by the refiner (refine-*.ts), which sees each of them as a flat list.
# Rules for changes: left recursion only (right recursion is quadratic), no nullable rule, no ambiguity, no work in postprocessors.
# Token types are chosen by the feeder (feed.ts): `{` is `lblock` or `lobj`, `;` is `semi`, `empty`, `forSemi` or `doSemi`, and so on.

@preprocessor typescript
@{%
import * as cover from './cover.js';
// nearley asks the lexer whether `%name` is a token; every one used below is.
const lexer = { has: (_type: string) => true, reset() {}, next: () => undefined, save: () => undefined, formatError: () => '' };
%}
@lexer lexer

program -> %eof {% cover.emptyProgram %}
         | statements %eof {% id %}

# Statements

statements -> statement {% cover.one %}
            | statements statement {% cover.more %}

statement -> leaf {% id %}
           | heads leaf {% cover.headed %}
           | statement "else" leaf {% cover.elseLeaf %}
           | statement "else" heads leaf {% cover.elseHeaded %}

heads -> head {% cover.one %}
       | heads head {% cover.more %}

head -> "if" "(" expression ")" {% cover.testHead %}
      | "while" "(" expression ")" {% cover.testHead %}
      | "for" "(" forInit forTest forUpdate {% cover.forHead %}
      | "for" "(" forLeft %of assign ")" {% cover.forEachHead %}
      | "for" "(" forLeft %forIn expression ")" {% cover.forEachHead %}
      | %name ":" {% cover.labelHead %}

forInit -> %forSemi {% cover.nothing %}
         | expression %forSemi {% id %}
         | declaration %forSemi {% id %}
forTest -> %forSemi {% cover.nothing %}
         | expression %forSemi {% id %}
forUpdate -> ")" {% cover.nothing %}
           | expression ")" {% id %}
forLeft -> chain {% id %}
         | %declare target {% cover.forBinding %}

leaf -> block {% id %}
      | %empty {% id %}
      | expression %semi {% cover.expressionStatement %}
      | declaration %semi {% cover.declarationStatement %}
      | %functionDecl %name parens block {% cover.namedFunction %}
      | %jump %semi {% cover.jump %}
      | %jump %name %semi {% cover.jumpWith %}
      | %exit %semi {% cover.jump %}
      | %exit expression %semi {% cover.jumpWith %}
      | "try" block catch {% cover.tryStatement %}
      | "try" block finally {% cover.tryFinally %}
      | "try" block catch finally {% cover.tryStatement %}
      | "switch" "(" expression ")" %lblock "}" {% cover.emptySwitch %}
      | "switch" "(" expression ")" %lblock cases "}" {% cover.switchStatement %}
      | "do" statement "while" "(" expression ")" %doSemi {% cover.doStatement %}
      | %workflow parens block {% cover.entry %}

block -> %lblock inBlock {% cover.block %}
inBlock -> "}" {% cover.closed %}
         | statements "}" {% cover.filled %}

catch -> "catch" block {% cover.bareCatch %}
       | "catch" "(" target ")" block {% cover.boundCatch %}
finally -> "finally" block {% cover.second %}

cases -> case {% cover.one %}
       | cases case {% cover.more %}
case -> caseHead {% cover.emptyCase %}
      | caseHead statements {% cover.fullCase %}
caseHead -> "case" expression ":" {% cover.caseHead %}
          | "default" ":" {% cover.defaultHead %}

declaration -> %declare declarators {% cover.declaration %}
declarators -> declarator {% cover.one %}
             | declarators "," declarator {% cover.moreAfterComma %}
declarator -> target {% cover.declarator %}
            | target "=" assign {% cover.declarator %}
target -> %name {% id %}
        | array {% id %}
        | object {% id %}

# Expressions

expression -> assign {% id %}
            | expression "," assign {% cover.sequence %}

assign -> binary {% id %}
        | assignHeads binary {% cover.assign %}
        | arrowBlock {% id %}
        | assignHeads arrowBlock {% cover.assign %}
assignHeads -> assignHead {% cover.one %}
             | assignHeads assignHead {% cover.more %}
assignHead -> chain "=" {% cover.assignHead %}
            | chain %assignOp {% cover.assignHead %}
            | binary "?" assign ":" {% cover.conditionHead %}
            | arrowStart {% id %}
arrowBlock -> arrowStart block {% cover.arrowBlock %}
arrowStart -> chain "=>" {% cover.arrowStart %}
            | %asyncName "=>" {% cover.arrowStart %}

binary -> operand {% id %}
        | binary %binop operand {% cover.binary %}
operand -> chain {% id %}
         | prefixes chain {% cover.prefixed %}
         | chain %postfix {% cover.postfixed %}
         | prefixes chain %postfix {% cover.prefixed %}
prefixes -> %prefix {% cover.one %}
          | prefixes %prefix {% cover.more %}

chain -> primary {% id %}
       | news primary {% cover.created %}
       | chain "." %key {% cover.member %}
       | chain "?." %key {% cover.member %}
       | chain "[" expression "]" {% cover.index %}
       | chain "?." "[" expression "]" {% cover.optionalIndex %}
       | chain parens {% cover.call %}
       | chain "?." parens {% cover.optionalCall %}
news -> "new" {% cover.one %}
      | news "new" {% cover.more %}

primary -> %name {% id %}
         | %atom {% id %}
         | %workflow {% id %}
         | template %tplTail {% cover.template %}
         | array {% id %}
         | object {% id %}
         | parens {% id %}
         | %functionExpr parens block {% cover.anonymousFunction %}
         | %functionExpr %name parens block {% cover.namedFunction %}

template -> %tplHead expression {% cover.templateStart %}
          | template %tplMid expression {% cover.templateMore %}

# What follows an opening bracket is a rule of its own, so that it is predicted only once the bracket is there.
parens -> "(" inParens {% cover.parens %}
inParens -> ")" {% cover.closed %}
          | items ")" {% cover.filled %}
          | items "," ")" {% cover.filledWithComma %}
items -> item {% cover.one %}
       | items "," item {% cover.moreAfterComma %}
item -> assign {% id %}
      | "..." assign {% cover.spread %}

array -> "[" inArray {% cover.array %}
inArray -> "]" {% cover.closed %}
         | untilComma "]" {% cover.filled %}
         | untilItem "]" {% cover.filled %}
untilComma -> "," {% cover.one %}
            | untilComma "," {% cover.more %}
            | untilItem "," {% cover.more %}
untilItem -> item {% cover.one %}
           | untilComma item {% cover.more %}

object -> %lobj inObject {% cover.object %}
inObject -> "}" {% cover.closed %}
          | properties "}" {% cover.filled %}
          | properties "," "}" {% cover.filledWithComma %}
properties -> property {% cover.one %}
            | properties "," property {% cover.moreAfterComma %}
property -> %name {% cover.shorthand %}
          | %name "=" assign {% cover.shorthandDefault %}
          | key ":" assign {% cover.pair %}
          | key parens block {% cover.method %}
          | %asyncKey key parens block {% cover.asyncMethod %}
          | "..." assign {% cover.spread %}
key -> %name {% id %}
     | %key {% id %}
     | "[" assign "]" {% cover.computedKey %}
