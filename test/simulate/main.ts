import { Command } from 'commander';
import { runMain } from '../../runtime/run-main.ts';
import { findMutations } from './mutate.ts';
import { planOf } from './plan.ts';
import { scriptOf } from './script.ts';
import { describeFinding, shrink } from './shrink.ts';
import { simulate } from './simulation.ts';

interface Flags {
  readonly shrink: boolean;
  readonly mutations?: boolean;
}

const SECS = { days: 86_400, hours: 3_600, seconds: 1 } as const;

/** Runs simulations of some seeds, and stops at the first violation. */
runMain(async () => {
  const command = new Command('simulate')
    .description(
      'Runs processes, nodes, sources and readers in virtual time, with faults, and compares what readers hold with what is true.',
    )
    .option('--seed <number>', 'the first seed', Number, 1)
    .option('--seeds <number>', 'how many at most', Number, 1)
    .option('--within <seconds>', 'of CPU time, after which no other seed begins', Number, Number.POSITIVE_INFINITY)
    .option('--days <number>', 'of virtual time', Number, 0)
    .option('--hours <number>', 'of virtual time', Number, 0)
    .option('--seconds <number>', 'of virtual time', Number, 0)
    .option('--no-shrink', 'prints a violation with all that happened before')
    .option('--mutations', 'puts known faults into a copy of the code, one after the other, and says which are found')
    .argument('[numbers...]', 'of mutations; default: all')
    .parse();
  const options: Record<keyof typeof SECS | 'seed' | 'seeds' | 'within', number> & Flags = command.opts();
  if (options.mutations) {
    process.exitCode = (await findMutations(command.args.map(Number), (line) => process.stdout.write(`${line}\n`)))
      ? 0
      : 1;
    return;
  }
  const secs = options.days * SECS.days + options.hours * SECS.hours + options.seconds || 60;
  const cpuSecs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  let events = 0;
  let seeds = 0;
  for (let seed = options.seed; seed < options.seed + options.seeds && cpuSecs() < options.within; seed += 1) {
    seeds += 1;
    const plan = planOf(seed, secs * 1_000);
    const script = scriptOf(plan);
    const outcome = await simulate(plan, script);
    events += outcome.events;
    if (!outcome.violation) continue;
    const found = options.shrink
      ? await shrink(plan, script, outcome.violation)
      : { script, violation: outcome.violation };
    process.stdout.write(describeFinding(plan, found));
    process.exitCode = 1;
    break;
  }
  process.stdout.write(`${seeds} seeds, ${events} events, ${cpuSecs().toFixed(1)} s of CPU time\n`);
});
