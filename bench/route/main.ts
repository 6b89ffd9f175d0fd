import { parseArgs } from 'node:util';
import { runMain } from '../../runtime/run-main.ts';
import { benchWarm } from './warm.ts';

const HELP = `Usage: bench/route [--help]

Measures the route finder: warm answers by kind, and how their cost grows with the market.
`;

runMain(async () => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) process.stdout.write(HELP);
  else await benchWarm((line) => process.stdout.write(`${line}\n`));
});
