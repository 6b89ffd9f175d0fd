import { concatHex, encodeFunctionData } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { oracleAbi } from '../abi.ts';
import type { ServedChain } from '../chains-config.ts';
import { toX64 } from '../scenario/market.ts';
import type { ScenarioPool } from '../scenario/plan.ts';

/** Of anvil's accounts. The first one owns the protocol, and posts the prices of its feeds. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** The body of a live quote update: a signed transaction that posts a price of the pool's token0. */
export async function signQuoteUpdate({ chainId, scenario }: ServedChain, pool: ScenarioPool): Promise<object> {
  const feed = scenario.feeds.find(({ vouchedFor }) => vouchedFor === pool.token0);
  if (feed === undefined) throw new Error(`no feed prices ${pool.token0}`);
  const args = [feed.id, toX64(feed.usd), BigInt(feed.spreadE6) * 10n ** 12n] as const;
  const tx = await mnemonicToAccount(MNEMONIC).signTransaction({
    type: 'eip1559',
    chainId,
    nonce: 0,
    gas: 200_000n,
    maxFeePerGas: 10n ** 9n,
    maxPriorityFeePerGas: 1n,
    to: scenario.deployment.oracle,
    data: encodeFunctionData({ abi: oracleAbi, functionName: 'post', args }),
  });
  return {
    tx,
    blockNumber: 1_000_000,
    replacementUuid: `0x${'00'.repeat(15)}01`,
    replacementSeqNumber: 1,
    quoteAddress: pool.address,
    poolAddresses: [pool.address],
    assetPairs: [concatHex([pool.token0, pool.token1])],
  };
}
