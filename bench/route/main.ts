import { parseArgs } from 'node:util';
import { runMain } from '../../runtime/run-main.ts';
import { benchCold } from './cold.ts';
import { benchWarm } from './warm.ts';

const HELP = `Usage: bench/route [--warm] [--cold] [--help]

Measures the route finder over 1,000 pools of 60 tokens.
  --warm   snapshots in memory, and how the cost grows with the market (some seconds)
  --cold   nothing read yet, a local node that answers after 20 ms (a minute or two to make the pools)
Without either, both.
`;

const SHAPE = { tokens: 60, pools: 1_000, hubs: 4, binsPerSide: 20 };

runMain(async () => {
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({ options: { warm: flag, cold: flag, help: { ...flag, short: 'h' } } });
  const write = (line: string) => process.stdout.write(`${line}\n`);
  if (values.help) return void process.stdout.write(HELP);
  const both = !values.warm && !values.cold;
  write(`${SHAPE.pools} pools over ${SHAPE.tokens} tokens, ${2 * SHAPE.binsPerSide} bins each`);
  if (both || values.warm) await benchWarm(SHAPE, write);
  if (both || values.cold) await benchCold(SHAPE, write);
});
