// Hides the password of a database URL before it is printed.

/** `postgres://ann:***@host/db`. In a string that is not a URL, everything that could be a password is hidden. */
export function maskUrl(url: string): string {
  if (!url.includes('@') && !/password=/i.test(url)) return url;
  if (!URL.canParse(url)) return url.replace(/\/\/.*@/s, '//***@').replace(/(password=)[^&\s]*/gi, '$1***');
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  for (const key of [...parsed.searchParams.keys()]) {
    if (/password/i.test(key)) parsed.searchParams.set(key, '***');
  }
  return parsed.toString();
}
