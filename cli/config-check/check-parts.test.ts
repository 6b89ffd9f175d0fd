import { expect, onTestFinished, test } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { checkParts } from './check-parts.ts';

const CHAIN_ID = 31_337;

test('nodes of a live source follow the parts of blocks, or it is said what they do', async () => {
  const anvil = await startAnvil({ chainId: CHAIN_ID, args: ['--order', 'fifo'] });
  onTestFinished(anvil.stop);
  const { multicall3 } = await deployProtocol(anvil.url, CHAIN_ID);
  const node = await startPartNode(await connectDevChain(anvil.url));
  onTestFinished(node.stop);
  const base = {
    chainId: CHAIN_ID,
    name: 'devnet',
    rpcUrls: [node.url],
    blockTimeMs: 2_000,
    multicall3,
    deployments: [],
  };
  const sources = [{ kind: 'preconfirmed', rpcUrls: [node.url], wsUrls: [node.wsUrl] }];
  const chain = ChainConfig.parse({ ...base, live: { sources } });
  const problems = async () => (await checkParts(chain)).map(({ level, problem }) => `${level}: ${problem}`);
  const stop = node.run();
  const sent = node.requests.length;
  expect(await problems()).toEqual([]);
  expect(
    node.requests
      .slice(sent)
      .map(({ method }) => method)
      .sort(),
  ).toEqual(['eth_call', 'eth_getBlockByNumber']);
  const offered = async (urls: object) => checkParts(ChainConfig.parse({ ...base, ...urls }));
  const url = new URL(node.wsUrl).origin;
  const wsUrls = [node.wsUrl, anvil.url.replace(/^http/, 'ws')];
  expect(await offered({ wsUrls })).toMatchObject([
    { url, level: 'note', problem: expect.stringContaining('live source') },
  ]);
  await stop();
  expect(await offered({ wsUrls })).toEqual([]);
  const asHeads = await startPartNode(await connectDevChain(anvil.url), { form: 'heads' });
  onTestFinished(asHeads.stop);
  const stopHeads = asHeads.run();
  expect(await offered({ rpcUrls: [asHeads.url], wsUrls: [asHeads.wsUrl] })).toHaveLength(1);
  await stopHeads();
  node.trap({ kind: 'allBehind', blocks: 0n });
  const { number } = await (await connectDevChain(anvil.url)).client.getBlock();
  expect(await problems()).toEqual([
    `error: follows no parts of blocks: a call at the tag pending runs at block ${number}, the head is ${number}`,
    'warning: pushed 0 parts of blocks in three seconds: parts are polled',
  ]);
  node.trap({ kind: 'null' });
  expect((await problems())[0]).toMatch(/^error: shows no parts of blocks: /);
  expect(await checkParts(ChainConfig.parse(base))).toEqual([]);
});
