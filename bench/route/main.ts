import { Command } from 'commander';
import { runMain } from '../../runtime/run-main.ts';
import { benchCold } from './cold.ts';
import { benchCrowded } from './crowded.ts';
import { benchDirectory } from './directory.ts';
import { benchWarm } from './warm.ts';

const SHAPE = { tokens: 60, pools: 1_000, hubs: 4, binsPerSide: 20 };

runMain(async () => {
  const { warm, cold, directory } = new Command('bench:route')
    .description(
      `Measures the route finder over ${SHAPE.pools} pools of ${SHAPE.tokens} tokens; without options, both ways.`,
    )
    .option('--warm', 'snapshots in memory, and how the cost grows with the market (some seconds)')
    .option('--cold', 'nothing read yet, a local node that answers after 20 ms (many minutes, to make the pools first)')
    .option('--directory <pools>', 'instead: the pool catalog over this many pools', Number)
    .parse()
    .opts<{ readonly warm?: boolean; readonly cold?: boolean; readonly directory?: number }>();
  const write = (line: string) => process.stdout.write(`${line}\n`);
  if (directory !== undefined) return benchDirectory(directory, write);
  const both = !warm && !cold;
  write(`${SHAPE.pools} pools over ${SHAPE.tokens} tokens, ${2 * SHAPE.binsPerSide} bins each`);
  if (both || warm) await benchWarm(SHAPE, write);
  if (both || warm) await benchCrowded(SHAPE, write);
  if (both || cold) await benchCold(SHAPE, write);
});
