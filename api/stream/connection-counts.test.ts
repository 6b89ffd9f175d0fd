import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConnectionCounts, type ConnectionOwner } from './connection-counts.ts';

const BOUNDS = { connections: 8, connectionsPerAddress: 2 };
const owner = fc.record({ address: fc.constantFrom('a', 'b'), keyId: fc.constantFrom(null, null, 'a') });
const step = fc.record({
  act: fc.constantFrom('take', 'move', 'release', 'end'),
  process: fc.nat(1),
  id: fc.nat(6),
  owner,
});

test('bounds hold over all processes, as a list of all connections has it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const counts = new ConnectionCounts(BOUNDS);
      const books = [counts.bookOf(0), counts.bookOf(1)];
      let open: { process: number; id: number; owner: ConnectionOwner }[] = [];
      const isCrowded = ({ address, keyId }: ConnectionOwner) =>
        keyId === null &&
        open.filter(({ owner }) => owner.keyId === null && owner.address === address).length >=
          BOUNDS.connectionsPerAddress;
      for (const { act, process, id, owner } of steps) {
        const it = open.find((each) => each.process === process && each.id === id);
        const book = books[process];
        if (act === 'take' && !it) {
          const refusal = open.length >= BOUNDS.connections ? 'full' : isCrowded(owner) ? 'crowded' : null;
          expect(await book?.take(id, owner)).toBe(refusal);
          if (refusal === null) open.push({ process, id, owner });
        } else if (act === 'move') {
          const refusal = isCrowded(owner) ? 'crowded' : null;
          expect(await book?.move(id, owner)).toBe(refusal);
          if (it && refusal === null) it.owner = owner;
        } else if (act === 'release') {
          book?.release(id);
          open = open.filter((each) => each !== it);
        } else if (act === 'end') {
          counts.end(process);
          open = open.filter((each) => each.process !== process);
        }
      }
    }),
  );
});
