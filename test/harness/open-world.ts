import { afterAll, beforeAll } from 'vitest';

/**
 * What the tests of one file or suite share: opened before the first of them, ended after the last. `open` tells `ends`
 * how each thing ends as soon as it is there: the last one first, whatever fails.
 *
 * @returns an object that has the properties of what `open` returns from then on
 */
export function openWorld<W extends object>(open: (ends: AsyncDisposableStack) => Promise<W>): Readonly<W> {
  const opened = {} as W;
  const ends = new AsyncDisposableStack();
  beforeAll(async () => {
    Object.defineProperties(opened, Object.getOwnPropertyDescriptors(await open(ends)));
  });
  afterAll(() => ends.disposeAsync());
  return opened;
}
