import { Command } from 'commander';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { type HostileChain, startHostileChain } from './chain.ts';
import { sizesOf } from './market.ts';
import { type Figures, formatReport } from './report.ts';
import { serveMarket } from './serve-market.ts';

const CHAIN_IDS = { plain: 31_337, guarded: 31_338 };

interface Options {
  readonly pools: string;
  readonly seconds: string;
  readonly rounds: string;
}

const startedAt = performance.now();
const write = (line: string) => process.stdout.write(`${line}\n`);
const say = (line: string) => write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`);

runMain(async () => {
  const { pools, seconds, rounds } = new Command('bench:hostile')
    .description(
      `Serves a market that is nearly all untrusted pools, then the honest ones alone, and compares both with the targets:
1 % active, 10 % with a provider that burns all gas, 10 % on one pair, the rest inactive, over two chains.`,
    )
    .option('--pools <number>', 'of both chains', '100000')
    .option(
      '--seconds <number>',
      'how long prices and stalls are watched: everything is read again within a minute',
      '75',
    )
    .option('--rounds <number>', 'of 12 seconds: quotes, pages, routes, quotes under a flood', '6')
    .parse()
    .opts<Options>();
  try {
    await bench(Number(pools), Number(seconds), Number(rounds));
  } finally {
    await stopRunningServices();
  }
});

async function bench(pools: number, seconds: number, rounds: number): Promise<void> {
  const sizes = sizesOf(pools);
  const folder = await createTempFolder('hostile');
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const chains: HostileChain[] = [
    await startHostileChain(CHAIN_IDS.plain, sizes, false),
    await startHostileChain(CHAIN_IDS.guarded, sizes, true),
  ];
  const { honest, crowd, burner, inactive } = sizes;
  say(
    `each chain has ${honest} honest pools; untrusted: ${crowd} on one pair, ${burner} burners, ${inactive} inactive`,
  );
  const serve = (onlyHonest: boolean) => {
    say(onlyHonest ? 'the honest pools alone' : 'all pools');
    return serveMarket({ folder, redisUrl: redis.url, postgres, chains, onlyHonest, seconds, say });
  };
  const alone = await serve(true);
  await alone.pause();
  const among = await serve(false);
  await among.pause();
  const markets = [alone, among] as const;
  say(`requests, ${rounds} rounds of each market`);
  // Alternately: machines do not keep their speed for minutes.
  for (let round = 0; round < rounds; round++) {
    for (const market of markets) {
      await market.resume();
      await market.measureRound();
      await market.pause();
    }
  }
  const figures: Figures[] = [];
  for (const market of markets) {
    await market.resume();
    figures.push(await market.finish());
  }
  write(`\n${formatReport(...(figures as [Figures, Figures]))}`);
  await Promise.all(chains.map((chain) => chain.stop()));
  await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
}
