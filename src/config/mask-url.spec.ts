// Passwords of database URLs: hidden in every form in which people write them, right or wrong.

import { describe, expect, it } from '@jest/globals';
import { maskUrl, maskUrlsIn } from './mask-url.js';

describe('the password of a database URL', () => {
  it.each([
    ['postgres://ann:hunter2@host:5432/db', 'postgres://ann:***@host:5432/db'],
    ['postgresql://ann:hunter2@host/db?sslmode=require', 'postgresql://ann:***@host/db?sslmode=require'],
    ['ann:hunter2@host', 'ann:***@host'],
    ['postgres:ann:hunter2@host/db', 'postgres:***@host/db'],
    ['//ann:hunter2@host/db', '//ann:***@host/db'],
    ['postgres://:hunter2@host/db', 'postgres://:***@host/db'],
    ['postgres://ann:hun@ter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:hun/ter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:5/hunter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:5#hunter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:hun@x?hunter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:hun:ter2@host/db', 'postgres://ann:***@host/db'],
    ['postgres://ann:hunter 2%@a host/db', 'postgres://ann:***@a host/db'],
    ['postgres://host/db?user=ann&password=hunter2&sslmode=require', 'postgres://host/db?user=ann&password=***&sslmode=require'],
    ['postgres://host/db?sslpassword=hunter2#x', 'postgres://host/db?sslpassword=***'],
    ["host=h user=ann password='hun ter\\'2' dbname=app", 'host=h user=ann password=*** dbname=app'],
    ['host=h PASSWORD = hunter2', 'host=h PASSWORD = ***'],
    ['postgres://ann@host/db', 'postgres://ann@host/db'],
    ['embedded', 'embedded'],
  ])('is hidden in %s', (url, masked) => expect(maskUrl(url)).toBe(masked));

  it('does not take long to look for in a megabyte', () => {
    const text = `a://${':'.repeat(1_000_000)}`;
    expect(maskUrlsIn(text)).toBe(text);
  }, 5_000);

  it('is hidden in a text, and the rest of the text is not changed', () => {
    expect(maskUrlsIn('too many arguments: "postgres://ann:hun/ter2@host/db" at 12:30, mail kim@example.com')).toBe(
      'too many arguments: "postgres://ann:***@host/db" at 12:30, mail kim@example.com',
    );
  });
});
