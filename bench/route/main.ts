import { print } from '../print.ts';
import { runBench } from '../run-bench.ts';
import { benchCold } from './cold.ts';
import { benchCrowded } from './crowded.ts';
import { benchDirectory } from './directory.ts';
import { benchWarm } from './warm.ts';

const SHAPE = { tokens: 60, pools: 1_000, hubs: 4, binsPerSide: 20 };

runBench({
  name: 'route',
  description: `Measures the route finder over ${SHAPE.pools} pools of ${SHAPE.tokens} tokens; without options, both ways.`,
  options: {
    warm: ['snapshots in memory, and how the cost grows with the market (some seconds)', false],
    cold: ['nothing read yet, a local node that answers after 20 ms (many minutes, to make the pools first)', false],
    directory: ['instead, unless 0: the pool catalog over this many pools', 0],
  },
  run: async ({ warm, cold, directory }, verdicts) => {
    if (directory > 0) return benchDirectory(directory, verdicts);
    const both = !warm && !cold;
    print(`${SHAPE.pools} pools over ${SHAPE.tokens} tokens, ${2 * SHAPE.binsPerSide} bins each`);
    if (both || warm) await benchWarm(SHAPE, verdicts);
    if (both || warm) await benchCrowded(SHAPE, verdicts);
    if (both || cold) await benchCold(SHAPE, verdicts);
  },
});
