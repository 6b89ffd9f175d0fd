/** Keys whose value appeared, changed or is gone. */
export function changedKeys<K, V>(before: ReadonlyMap<K, V>, now: ReadonlyMap<K, V>): Set<K> {
  const changed = [...now].filter(([key, value]) => before.get(key) !== value).map(([key]) => key);
  return new Set([...changed, ...[...before.keys()].filter((key) => !now.has(key))]);
}
