// Reads the flags that the benchmarks share.

/** The names in a flag, separated by commas; without the flag, all. */
export function readNames(flag, value, all, fallback = all) {
  const names = value?.split(',') ?? fallback;
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`${flag}: unknown ${unknown.join(', ')}. Choose from ${all.join(', ')}.`);
  return names;
}
