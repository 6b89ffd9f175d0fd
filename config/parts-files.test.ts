import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseChainsFile } from './load-chains.ts';

/** The shipped files of chains whose nodes follow parts of blocks. */

const FILES = [
  { name: 'base-parts.json', chainId: 8453, isPushed: true },
  { name: 'unichain-parts.json', chainId: 130, isPushed: true },
  { name: 'op-mainnet-parts.json', chainId: 10, isPushed: false },
  { name: 'world-chain-parts.json', chainId: 480, isPushed: false },
];

const read = async (name: string) => JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));

/** The environment that the file of a chain needs. */
const envOf = ({ chainId, isPushed }: (typeof FILES)[number]): Record<string, string> => ({
  [`RPC_URL_${chainId}`]: 'https://node.example',
  [`PARTS_URL_${chainId}`]: 'https://parts.example',
  ...(isPushed && { [`PARTS_WS_URL_${chainId}`]: 'wss://parts.example' }),
});

test('the file of Base with parts is as that of all chains has it', async () => {
  const [file, all] = [await read('base-parts.json'), await read('mainnet.json')];
  const [{ live, ...base }] = file.chains;
  expect(base).toEqual(all.chains.find(({ chainId }: { chainId: number }) => chainId === 8453));
  expect({ ...file, chains: [] }).toEqual({ ...all, chains: [] });
});

test.each(FILES)('$name reads nodes that follow parts, and does not load without one of them', async (shipped) => {
  const [file, env] = [await read(shipped.name), envOf(shipped)];
  const chains = parseChainsFile(file, shipped.name, env).chains;
  expect(chains.map(({ chainId }) => chainId)).toEqual([shipped.chainId]);
  const wsUrls = shipped.isPushed ? ['wss://parts.example'] : [];
  expect(chains[0]?.live?.sources).toEqual([
    { kind: 'preconfirmed', rpcUrls: ['https://parts.example'], wsUrls, maxAgeMs: 600 },
  ]);
  for (const name of Object.keys(env))
    expect(() => parseChainsFile(file, shipped.name, { ...env, [name]: undefined })).toThrow(`${name} is not set`);
});
