// Hides the password of a database URL before it is printed.

/**
 * `postgres://ann:***@host/db`. Not by parsing: a password with `@`, `/`, `?` or `#` in it, or a missing `postgres://`, moves what a
 * parser takes for the password. Everything between the first colon after the scheme and the last `@` is hidden, and every
 * parameter with "pass" in its name, so that at worst too much is.
 */
export function maskUrl(url: string): string {
  const scheme = SCHEME.exec(url)?.[0] ?? '';
  const rest = url.slice(scheme.length);
  const end = rest.lastIndexOf('@');
  const colon = rest.indexOf(':');
  const masked = colon >= 0 && colon < end ? `${rest.slice(0, colon)}:***${rest.slice(end)}` : rest;
  return scheme + masked.replace(PARAMETER, '$1***');
}

/** The same for every URL in a text that may be about anything else too, such as the message of a driver. */
export function maskUrlsIn(text: string): string {
  return text.replace(URL_WITH_PASSWORD, maskUrl).replace(PARAMETER, '$1***');
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const PARAMETER = /(\b\w*passw(?:or)?d\s*=\s*)(?:'(?:\\.|[^'\\])*'?|[^&\s]+)/gi;
// Up to the last `@` before whitespace or a quote. Bounded, so that a text of many colons takes no quadratic time.
const URL_WITH_PASSWORD = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'`]{0,1000}:[^\s"'`]{0,1000}@[^\s"'`]{0,1000}/gi;
