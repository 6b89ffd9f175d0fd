import { sizesOf } from '../../test/many-pools/pool-kinds.ts';
import { print, say } from '../print.ts';
import { runBench } from '../run-bench.ts';
import { startStores } from '../stores.ts';
import { measureAudit } from './audit.ts';
import { startHostileChain } from './chain.ts';
import { printAudit, printReport } from './report.ts';
import { serveMarket } from './serve-market.ts';

const CHAIN_IDS = { plain: 31_337, guarded: 31_338 };

runBench({
  name: 'hostile',
  description: `Serves a market that is nearly all untrusted pools, then the honest ones alone, and compares both with the targets:
1 % active, 10 % with a provider that burns all gas, 10 % on one pair, the rest inactive, over two chains.`,
  options: {
    pools: ['of both chains', 100_000],
    seconds: ['how long prices and stalls are watched: everything is read again within a minute', 75],
    rounds: ['of 12 seconds: quotes, pages, routes, quotes under a flood', 6],
    audit: ['the comparison of an index of as many pools alone, for as many seconds', false],
  },
  run: async ({ pools, seconds, rounds, audit }, verdicts) => {
    const sizes = sizesOf(pools);
    const stores = await startStores();
    printAudit(await measureAudit(stores, pools, seconds), verdicts);
    if (audit) return;
    const chains = [
      await startHostileChain(CHAIN_IDS.plain, sizes, false),
      await startHostileChain(CHAIN_IDS.guarded, sizes, true),
    ];
    const { honest, crowd, burner, inactive } = sizes;
    say(
      `each chain has ${honest} honest pools; untrusted: ${crowd} on one pair, ${burner} burners, ${inactive} inactive`,
    );
    const serve = (onlyHonest: boolean) => {
      say(onlyHonest ? 'the honest pools alone' : 'all pools');
      return serveMarket({ stores, chains, onlyHonest, seconds });
    };
    const alone = await serve(true);
    await alone.running.pause();
    const among = await serve(false);
    await among.running.pause();
    say(`requests, ${rounds} rounds of each market`);
    // Alternately: machines do not keep their speed for minutes.
    for (let round = 0; round < rounds; round++) {
      for (const market of [alone, among]) {
        await market.running.resume();
        await market.measureRound();
        await market.running.pause();
      }
    }
    await alone.running.resume();
    const ofAlone = await alone.finish();
    await among.running.resume();
    const ofAmong = await among.finish();
    print('');
    printReport(ofAlone, ofAmong, verdicts);
  },
});
