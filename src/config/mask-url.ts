// Hides the password of a database URL before anyone prints it.

/** `postgres://ann:***@host/db`; a text that is no URL is hidden whole when it could hold a password. */
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
