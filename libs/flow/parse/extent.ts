// Where cover nodes begin and end in the text; including parentheses, which the syntax tree does not keep.

import type { CoverKey, CoverProperty, Item } from './cover.js';

export function startOf(node: Item): number {
  for (let at: Item = node; ; ) {
    switch (at.type) {
      case 'assign': {
        let first = at.heads;
        while (first.prev) first = first.prev;
        const head = first.item;
        at = head.type === 'conditionHead' ? head.test : head.type === 'assignHead' ? head.target : head.params;
        break;
      }
      case 'arrowBlock':
        at = at.head.params;
        break;
      case 'binary':
      case 'sequence':
        at = at.left;
        break;
      case 'operand': {
        if (!at.prefixes) at = at.chain;
        else {
          let first = at.prefixes;
          while (first.prev) first = first.prev;
          return first.item.start;
        }
        break;
      }
      case 'created': {
        let first = at.news;
        while (first.prev) first = first.prev;
        return first.item.start;
      }
      case 'member':
      case 'index':
      case 'call':
        at = at.object;
        break;
      case 'template': {
        let first = at.parts;
        while (first.prev) first = first.prev;
        return first.item.text.start;
      }
      case 'parens':
      case 'array':
      case 'object':
        return at.open.start;
      case 'function':
        return at.keyword.asyncStart >= 0 ? at.keyword.asyncStart : at.keyword.start;
      case 'spread':
        return at.dots.start;
      default:
        return at.asyncStart >= 0 ? at.asyncStart : at.start;
    }
  }
}

export function endOf(node: Item): number {
  for (let at: Item = node; ; ) {
    switch (at.type) {
      case 'assign':
        at = at.tail;
        break;
      case 'arrowBlock':
        return at.block.close.end;
      case 'binary':
      case 'sequence':
        at = at.right;
        break;
      case 'operand':
        if (at.postfix) return at.postfix.end;
        at = at.chain;
        break;
      case 'created':
        at = at.primary;
        break;
      case 'member':
        return at.name.end;
      case 'call':
        return at.args.close.end;
      case 'template':
        return at.tail.end;
      case 'index':
      case 'parens':
      case 'array':
      case 'object':
        return at.close.end;
      case 'function':
        return at.body.close.end;
      case 'spread':
        at = at.argument;
        break;
      default:
        return at.end;
    }
  }
}

export function keyStart(key: CoverKey): number {
  return key.type === 'computedKey' ? key.open.start : key.start;
}

export function propertyStart(property: CoverProperty): number {
  switch (property.type) {
    case 'shorthand':
      return property.name.start;
    case 'pair':
      return keyStart(property.key);
    case 'method':
      return property.async?.start ?? keyStart(property.key);
    case 'spread':
      return property.dots.start;
  }
}
