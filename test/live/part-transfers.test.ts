import { mnemonicToAccount } from 'viem/accounts';
import { expect, test, vi } from 'vitest';
import { MNEMONIC } from '../../devnet/demo/quote-update.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesOf } from './part-quotes.ts';
import { levelsOf } from './part-traps.ts';
import { startPartWorld } from './part-world.ts';

/* What a part's transactions show without a call: those that run no code change no quote. */

let used = 0;
const world = startedWorld(async () => {
  const opened = await startPartWorld({ flatPools: 2, packedPools: 2, node: { form: 'payload', partsPerBlock: 40 } });
  const observeLive = () => ({
    count: (_kind: string, outcome: string) => {
      if (outcome === 'used') used += 1;
    },
    skipped: () => undefined,
    suspended: () => undefined,
    sealed: () => undefined,
  });
  // On a busy machine it polls no part.
  return { ...opened, followed: opened.open({ observeLive, now: () => performance.now() / 10 }) };
});

const quotes = () => quotesOf(world, {}, world.followed);
const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

/** Puts a transfer of coins to an account without code into the next part. @param gas what it may cost */
async function transfer(gas: bigint): Promise<void> {
  const { chain } = world.market;
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: 9 });
  const nonce = await chain.client.getTransactionCount({ address: account.address, blockTag: 'pending' });
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n };
  const call = {
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    gas,
    ...fees,
    to: chain.roles.taker,
    value: 1n,
  } as const;
  world.node.submit(await account.signTransaction(call));
}

test('parts with transfers of coins soon cost no call; one that may run code does, with the same quotes', async () => {
  const quotesAt = (hundredths: bigint) =>
    world.price(hundredths).then(({ index }) =>
      vi.waitFor(async () => {
        const found = await quotes();
        for (const { basis } of found) expect(basis).toMatchObject({ kind: 'live', source: { part: index } });
        return found;
      }),
    );
  // Until it is known of each pool how its depth is found.
  for (const hundredths of [200n, 201n, 202n, 203n]) await quotesAt(hundredths);
  const before = await quotesAt(204n);
  /** Shows a part with a transfer. @returns the calls until it is quoted */
  const callsOf = async (gas: bigint) => {
    const [calls, known] = [callsAtParts(), used];
    await transfer(gas);
    await world.node.nextPart();
    await vi.waitUntil(() => used > known);
    expect((await quotes()).map(levelsOf)).toEqual(before.map(levelsOf));
    return callsAtParts() - calls;
  };
  for (let part = 0; part < 5; part += 1) await callsOf(21_000n);
  for (let part = 0; part < 5; part += 1) expect(await callsOf(21_000n)).toBe(0);
  expect(await callsOf(21_001n)).toBeGreaterThan(0);
});
