import { afterAll, beforeAll } from 'vitest';

/**
 * What the tests of one file or suite share: opened before the first of them, ended after the last. `open` tells `ends`
 * how each thing ends as soon as it is there: the last one first, whatever fails.
 *
 * @param timeoutMs of what `open` does, where the usual limit of hooks is too short
 * @returns an object that has the properties of what `open` returns from then on
 */
export function openWorld<W extends object>(
  open: (ends: AsyncDisposableStack) => Promise<W>,
  timeoutMs?: number,
): Readonly<W> {
  const opened = {} as W;
  const ends = new AsyncDisposableStack();
  beforeAll(async () => {
    Object.defineProperties(opened, Object.getOwnPropertyDescriptors(await open(ends)));
  }, timeoutMs);
  afterAll(() => ends.disposeAsync());
  return opened;
}

/** How things of tests end. */
type Ending = Partial<Record<'stop' | 'close' | 'drop' | 'remove', () => unknown>>;

/** The same for one plain object, which ends by its own `stop`, `close`, `drop` or `remove`. */
export const startedWorld = <W extends Ending>(start: () => Promise<W>): Readonly<W> =>
  openWorld(async (ends) =>
    ends.adopt(await start(), async (started) => {
      await (started.stop ?? started.close ?? started.drop ?? started.remove)?.();
    }),
  );
