import { expect, test } from 'vitest';
import { startAnvil } from '../devnet/anvil.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { assertChainIds } from './chain-ids.ts';

const anvil = startedWorld(() => startAnvil({ chainId: 4242 }));
test('a node of the chain passes, one of another chain is refused without its key, an unreachable one passes', async () => {
  const unreachable = 'http://127.0.0.1:1/';
  await assertChainIds([{ chainId: 4242, rpcUrls: [unreachable, anvil.url] }]);
  const chains = [
    { chainId: 4242, rpcUrls: [anvil.url] },
    { chainId: 1, rpcUrls: [unreachable, `${anvil.url}/?key=secret`] },
  ];
  await expect(assertChainIds(chains)).rejects.toThrow(
    new RegExp(`^CHAINS_CONFIG: chain 1: the node at 127.0.0.1:${anvil.port} answers with chain id 4242: (?!.*secret)`),
  );
});
