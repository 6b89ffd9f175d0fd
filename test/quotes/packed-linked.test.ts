import { type Address, concatHex, type Hex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { linked } from '../../devnet/link.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import type { ExtensionSpec } from '../../devnet/pools.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createTestPools, type PackedTestPool, startPackedChain } from '../packed/packed-chain.ts';
import { bringAbout, ordinary, quotingCode } from '../packed/packed-states.ts';
import { levelsOffCurve, mineAndSee, type PackedApi, packedApi } from './packed-world.ts';

const packedChain = startedWorld(startPackedChain);
let library: Address;
let pools: readonly PackedTestPool[];

beforeAll(async () => {
  library = await deployContract(packedChain.chain, 'LinkedCurve');
  pools = await createPools();
});

function createPools(extensionsOf?: () => readonly ExtensionSpec[]): Promise<readonly PackedTestPool[]> {
  const code = linked(loadArtifact('LinkedPackedPool').bytecode, { LinkedCurve: library });
  const pairs = [
    [18, 18],
    [18, 6],
    [6, 18],
  ] as const;
  return createTestPools(packedChain, packedVariant('sumOnPrice'), pairs, undefined, extensionsOf, code);
}

const last = ({ reports }: PackedApi) => reports.at(-1);
const minimalProxy = (to: Address): Hex => `0x363d3d373d3d3d363d73${to.slice(2)}5af43d82803e903d91602b57fd5bf3`;

async function codeOf(address: Address): Promise<Hex> {
  const code = await packedChain.chain.client.getCode({ address });
  if (!code) throw new Error(`no code at ${address}`);
  return code;
}

const setCode = (address: Address, bytecode: Hex) => packedChain.chain.client.setCode({ address, bytecode });

function pool(index: number): PackedTestPool {
  const found = pools[index];
  if (!found) throw new Error(`no pool ${index}`);
  return found;
}

async function quoted(index: number) {
  const [own, priced] = [pool(index), ordinary(pool(index))];
  const api = await packedApi(packedChain, [own]);
  await bringAbout(packedChain, own, priced);
  const quote = async () => {
    await mineAndSee(packedChain, api, own);
    const { depth } = await api.quote(own.address);
    expect(depth?.bids.length).toBeGreaterThan(2);
    expect(await levelsOffCurve(packedChain, own, priced, depth ?? { bids: [], asks: [] })).toEqual([]);
    return last(api);
  };
  return { own, api, quote };
}

describe('a pool that links its arithmetic', () => {
  test('is served by a formula, without a simulation at later blocks', async () => {
    const { own, api, quote } = await quoted(0);
    expect(await quote()).toMatchObject({ method: 'formula' });
    const before = api.calls.length;
    await mineAndSee(packedChain, api, own);
    await api.quote(own.address);
    expect(api.calls.slice(before).filter((call) => !/^eth_(getBlock|chainId)/.test(call))).toEqual(
      Array(2).fill('eth_call:ok'),
    );
  });

  test('loses it at the block in which the code of the library is another, and has it again when that agrees', async () => {
    const { quote } = await quoted(1);
    expect(await quote()).toMatchObject({ method: 'formula' });
    const code = await codeOf(library);
    await setCode(library, concatHex([code, '0x00']));
    expect(await quote()).toMatchObject({ method: 'formula', dropped: 'code' });
    expect(await quote()).toMatchObject({ method: 'formula', dropped: null });
    await setCode(library, code);
  });

  test('is served by it beside a pool that names the library as its extension', async () => {
    const [own] = await createPools();
    const [other] = await createPools(() => [{ address: library, phases: ['beforeSwap'], initData: '0x' }]);
    if (!own || !other) throw new Error('no pools');
    const api = await packedApi(packedChain, [own, other]);
    for (const each of [own, other]) await bringAbout(packedChain, each, ordinary(each));
    await mineAndSee(packedChain, api, own);
    const [result] = await api.results([own.address, other.address]);
    const depth = result && 'quote' in result ? result.quote.depth : null;
    expect(depth?.bids.length).toBeGreaterThan(2);
    expect(await levelsOffCurve(packedChain, own, ordinary(own), depth ?? { bids: [], asks: [] })).toEqual([]);
    expect(api.reports.find((report) => report.pool === own.address)?.method).toBe('formula');
  });

  test.each([
    ['is a proxy', minimalProxy],
    ['may run what its storage says', openProxy],
  ])('is fitted where the library %s', async (_what, codeFor) => {
    const { quote } = await quoted(2);
    const code = await codeOf(library);
    const copy = `0x${'7b'.repeat(20)}` as const;
    await setCode(copy, code);
    await setCode(library, codeFor(copy));
    expect(await quote()).toMatchObject({ method: 'fit' });
    expect(await quote()).toMatchObject({ method: 'fit' });
    await setCode(library, code);
    expect(await quote()).toMatchObject({ method: 'formula', dropped: 'code' });
  });

  test.each([
    ['is a proxy', () => minimalProxy(`0x${'7c'.repeat(20)}`)],
    ['may run what its storage says beside what it links', () => openProxy(`0x${'7c'.repeat(20)}`)],
  ])('is fitted where its provider %s', async (_what, providerCode) => {
    const { own, quote } = await quoted(0);
    const code = await codeOf(own.provider);
    await setCode(`0x${'7c'.repeat(20)}`, quotingCode(own, ordinary(own)));
    await setCode(own.provider, providerCode());
    expect(await quote()).toMatchObject({ method: 'fit' });
    await setCode(own.provider, code);
  });
});

/** Hands calls with data on to an address of its code, and others to one of its storage. */
function openProxy(to: Address): Hex {
  const handOn = (target: string) => `365f5f375f5f365f${target}5af4503d5f5f3e3d5ff3`;
  const first = handOn('5f54');
  const there = (4 + first.length / 2).toString(16).padStart(2, '0');
  return `0x3660${there}57${first}5b${handOn(`73${to.slice(2)}`)}`;
}
