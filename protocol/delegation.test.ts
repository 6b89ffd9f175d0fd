import fc from 'fast-check';
import { type Address, bytesToHex, concatHex, hexToBytes, numberToHex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { startAnvil } from '../devnet/anvil.ts';
import { connectDevChain, type DevChain } from '../devnet/dev-chain.ts';
import { assertUntil } from '../test/harness/assert-until.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { runs } from '../test/harness/property-seed.ts';
import { delegationOf } from './delegation.ts';

const RUNS = runs(100);
const PLACES = 5;
const AT: Address = '0x00000000000000000000000000000000000c0de0';
const ADDRESSES = ['aa', 'bb'].map((byte) => byte.repeat(20));
/** Stored and asked for: an address that no code pushes. */
const UNTRUSTED = `0x${'00'.repeat(12)}${'ee'.repeat(20)}` as const;

/** A place of the code is pushed by three bytes. */
const place = fc.nat({ max: PLACES - 1 }).map((index) => ({ place: index }));
const instruction = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ADDRESSES).map((address) => `73${address}`) },
  { weight: 4, arbitrary: place },
  // DUP1 to DUP4, SWAP1 to SWAP3, POP.
  { weight: 8, arbitrary: fc.constantFrom('80', '81', '82', '83', '90', '91', '92', '50') },
  // Words of calldata and storage; a mask; sums.
  { weight: 3, arbitrary: fc.constantFrom('5f35', '602035', '5f54', '6001600160a01b0316', '01', '6001', '5a') },
  { weight: 3, arbitrary: fc.constantFrom('56', '57', '6020355760', '5f3557') },
  { weight: 4, arbitrary: fc.constantFrom('5f5f5f5f845af450', '5f5f5f5f855af450', '5f5f5f5f5f545af450') },
);
const program = fc.array(fc.array(instruction, { maxLength: 9 }), { minLength: PLACES, maxLength: PLACES });

const anvil = startedWorld(() => startAnvil({ chainId: 31_337 }));
let chain: DevChain;

beforeAll(async () => {
  chain = await connectDevChain(anvil.url);
  await chain.client.setStorageAt({ address: AT, index: 0, value: UNTRUSTED });
});

/** Each part begins with a place to jump to; before the first are two addresses and two places. */
function codeOf(parts: readonly (readonly (string | { readonly place: number })[])[]): Uint8Array {
  const size = (each: string | { readonly place: number }) => (typeof each === 'string' ? each.length / 2 : 3);
  const start = [...ADDRESSES.map((address) => `73${address}`), { place: 1 }, { place: 2 }];
  const offsets: number[] = [];
  let offset = start.reduce((sum, each) => sum + size(each), 0);
  for (const part of parts) {
    offsets.push(offset);
    offset += part.reduce((sum, each) => sum + size(each), 1);
  }
  const text = (each: string | { readonly place: number }) =>
    typeof each === 'string' ? each : `61${numberToHex(offsets[each.place] ?? 0, { size: 2 }).slice(2)}`;
  const bytes = [...start.map(text), ...parts.map((part) => `5b${part.map(text).join('')}`)];
  return hexToBytes(`0x${bytes.join('')}`);
}

interface Frame {
  readonly type: string;
  readonly to?: string;
  readonly calls?: readonly Frame[];
}

/** Whom the code delegates to when it is run with these words of calldata, also where it fails later. */
async function delegated(code: Uint8Array, words: readonly bigint[]): Promise<Set<string>> {
  await chain.client.setCode({ address: AT, bytecode: bytesToHex(code) });
  const data = concatHex(words.map((word) => numberToHex(word, { size: 32 })));
  const { calls = [] } = await chain.client.request<{ ReturnType: Frame }>({
    method: 'debug_traceCall',
    params: [{ to: AT, data, gas: '0x186a0' }, 'latest', { tracer: 'callTracer' }],
  } as never);
  return new Set(calls.flatMap(({ type, to }) => (type === 'DELEGATECALL' && to ? [to.toLowerCase()] : [])));
}

test('code that counts as fixed delegates to nobody else, whatever it is asked', async () => {
  let [fixed, resolved] = [0, 0];
  const places = fc.constantFrom(0n, 1n, 46n, 60n, BigInt(UNTRUSTED));
  const property = fc.asyncProperty(program, places, places, async (parts, first, second) => {
    const code = codeOf(parts);
    const delegation = delegationOf(code, 300_000);
    const targets = await delegated(code, [first, second]);
    if (delegation.kind !== 'fixed') return;
    fixed += 1;
    resolved += targets.size > 0 ? 1 : 0;
    expect([...targets].filter((target) => !delegation.libraries.includes(target as Address))).toEqual([]);
  });
  await assertUntil(() => fixed > RUNS / 10 && resolved > RUNS / 50, property, { numRuns: RUNS });
});
