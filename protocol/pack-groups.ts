/** A measure of an item, and how much of it a chunk may hold. */
export interface PackLimit<Item> {
  readonly of: (item: Item) => number;
  readonly most: number;
}

/** Cuts groups into chunks, in order: a chunk is within every limit, or is a single group that is not. */
export function packGroups<Item>(
  groups: readonly (readonly Item[])[],
  limits: readonly PackLimit<Item>[],
): (readonly Item[])[][] {
  const chunks: (readonly Item[])[][] = [];
  let room = limits.map(({ most }) => most);
  for (const group of groups) {
    const sizes = limits.map(({ of }) => group.reduce((sum, item) => sum + of(item), 0));
    const left = subtract(room, sizes);
    const chunk = chunks.at(-1);
    if (chunk && left.every((rest) => rest >= 0)) {
      chunk.push(group);
      room = left;
    } else {
      chunks.push([group]);
      room = subtract(
        limits.map(({ most }) => most),
        sizes,
      );
    }
  }
  return chunks;
}

const subtract = (room: readonly number[], sizes: readonly number[]) =>
  room.map((rest, index) => rest - (sizes[index] ?? 0));
