/** A measure of an item, and how much of it a chunk may hold. */
export interface PackLimit<Item> {
  readonly of: (item: Item) => number;
  readonly most: number;
}

/** Packs groups into chunks, in order. A chunk is within every limit, unless it is a single group that is not. */
export function packGroups<Item>(
  groups: readonly (readonly Item[])[],
  limits: readonly PackLimit<Item>[],
): (readonly Item[])[][] {
  const chunks: (readonly Item[])[][] = [];
  let used: readonly number[] = [];
  for (const group of groups) {
    const sizes = limits.map(({ of }) => group.reduce((sum, item) => sum + of(item), 0));
    const total = sizes.map((size, index) => size + (used[index] ?? 0));
    const chunk = chunks.at(-1);
    const fits = chunk && limits.every(({ most }, index) => (total[index] ?? 0) <= most);
    if (fits) chunk.push(group);
    else chunks.push([group]);
    used = fits ? total : sizes;
  }
  return chunks;
}
