import { writeFileSync } from 'node:fs';
import { Argument, Command } from 'commander';
import {
  changedFiles,
  committedPath,
  hashFiles,
  LOGIC_NAMES,
  type LogicName,
  logicVersion,
  readCommitted,
} from '../runtime/logic-version.ts';
import { runMain } from '../runtime/run-main.ts';

const HELP = `
Rows of the index and of the listing are kept, and continued only by code of the same version. After a change of that code,
its author says whether rows that the old code wrote stay right:

  npm run logic-version                   fails when a change waits for an answer; part of npm run check
  npm run logic-version same              they do: comments, layout, names, other refactoring
  npm run logic-version raised            they do not: a new index is built, all pools are listed anew
  npm run logic-version raised listing    the same, for one of the two alone`;

runMain(async () => {
  const command = new Command('logic-version')
    .description('Versions of the code that writes the index and the listing.')
    .addArgument(new Argument('[answer]', 'what the author says of the change').choices(['same', 'raised']))
    .addArgument(new Argument('[logic]', 'of which; default: all that changed').choices(LOGIC_NAMES))
    .addHelpText('after', HELP)
    .parse();
  const [answer, only] = command.processedArgs as [string | undefined, LogicName | undefined];
  const names = LOGIC_NAMES.filter((name) => only === undefined || only === name);
  for (const name of names) {
    if (answer !== undefined) give(name, answer === 'raised');
    process.stdout.write(`${name} logic: version ${logicVersion(name)}\n`);
  }
});

function give(name: LogicName, isRaised: boolean): void {
  const isChanged = changedFiles(name).length > 0;
  const { version } = readCommitted(name);
  const committed = { version: isRaised && isChanged ? version + 1 : version, files: hashFiles(name) };
  writeFileSync(committedPath(name), `${JSON.stringify(committed, null, 2)}\n`);
}
