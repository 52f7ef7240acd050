// How a run fails that throws something: the failure is readable whatever was thrown.

import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../../test/support/flow-driver.js';

describe('a run that throws', () => {
  it.each([
    ['new TypeError("no price")', { name: 'TypeError', message: 'no price' }],
    ['{ name: "Declined", message: "no funds", code: "X" }', { name: 'Declined', message: 'no funds', data: { code: 'X' } }],
    ['{ code: 1 }', { name: 'Error', message: 'Uncaught an object, which is not an Error', data: { code: 1 } }],
    ['{ message: { text: "a" } }', { name: 'Error', message: 'Uncaught an object, which is not an Error' }],
    ['[1, 2]', { name: 'Error', message: 'Uncaught an array of 2, which is not an Error', data: [1, 2] }],
    ['new Map()', { name: 'Error', message: 'Uncaught a Map, which is not an Error' }],
    ['(() => 1)', { name: 'Error', message: 'Uncaught a function, which is not an Error' }],
    ['"plain"', { name: 'Error', message: 'Uncaught plain' }],
    ['undefined', { name: 'Error', message: 'Uncaught undefined' }],
  ])('%s fails with what that says', (thrown, expected) => {
    expect(errorOf(`throw ${thrown}`)).toMatchObject(expected);
  });
});
