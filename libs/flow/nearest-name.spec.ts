// The name that a typo was meant to be.

import { describe, expect, it } from '@jest/globals';
import { nearestName } from './nearest-name.js';

describe('the nearest name', () => {
  it('is one that a typo explains, or none', () => {
    expect(nearestName('lenght', ['length', 'left'])).toBe('length');
    expect(nearestName('MATH', ['Math', 'MATE'])).toBe('Math');
    expect(nearestName('max_connections', ['minConnections', 'maxConnections'])).toBe('maxConnections');
    expect(nearestName('x', ['y', 'z'])).toBeUndefined();
    expect(nearestName('customer', ['order', 'total'])).toBeUndefined();
  });
});
