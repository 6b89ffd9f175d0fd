import { Command } from 'commander';
import { stopRunningServices } from '../local/services/service-process.ts';
import { runMain } from '../runtime/run-main.ts';
import { print } from './print.ts';
import type { BenchName } from './targets.ts';
import { Verdicts } from './verdicts.ts';

/** What it says in the help, and the default, which also gives the kind: a `false` is a switch. */
type Option = readonly [description: string, fallback: number | string | boolean];
type Widened<T> = T extends number ? number : T extends boolean ? boolean : string;
type Values<Options extends Readonly<Record<string, Option>>> = {
  readonly [Name in keyof Options]: Widened<Options[Name][1]>;
};

export interface Bench<Name extends BenchName, Options extends Readonly<Record<string, Option>>> {
  readonly name: Name;
  readonly description: string;
  readonly options: Options;
  /** Measures and prints. What it starts need not be stopped: all ends with the process. */
  readonly run: (values: Values<Options>, verdicts: Verdicts<Name>) => Promise<void>;
}

/** Runs a bench as a command. With `--check`, a missed target is printed last and gives exit code 1. */
export function runBench<Name extends BenchName, const Options extends Readonly<Record<string, Option>>>(
  bench: Bench<Name, Options>,
): void {
  const command = new Command(`bench:${bench.name}`)
    .description(bench.description)
    .option('--check', 'exit with code 1 when a target is missed, and print which');
  for (const [name, [description, fallback]] of Object.entries(bench.options)) {
    if (fallback === false) command.option(`--${name}`, description);
    else if (typeof fallback === 'number') command.option(`--${name} <number>`, description, Number, fallback);
    else command.option(`--${name} <value>`, description, String(fallback));
  }
  runMain(async () => {
    const { check, ...values } = command.parse().opts();
    const verdicts = new Verdicts(bench.name);
    try {
      await bench.run(values as Values<Options>, verdicts);
    } finally {
      await stopRunningServices();
    }
    process.exit(check ? checked(verdicts) : 0);
  });
}

/** @returns the exit code */
function checked({ missed, unmeasured }: Pick<Verdicts<BenchName>, 'missed' | 'unmeasured'>): number {
  if (unmeasured.length > 0) print(`not measured: ${unmeasured.join('; ')}`);
  for (const each of missed) print(`target missed: ${each}`);
  return missed.length > 0 ? 1 : 0;
}
