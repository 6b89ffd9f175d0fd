import { Argument, Command } from 'commander';
import { runMain } from '../runtime/run-main.ts';
import { giveLogicVersion, LOGIC_NAMES, type LogicName, logicVersion } from './logic-versions.ts';

const HELP = `
Rows of the index and of the listing are continued only by code of the same version. After a change, its author says whether
rows that the old code wrote stay right ("same": layout, names, refactoring) or not ("raised": a new index is built, all
pools are listed again). Without an answer, it fails when a change waits for one.`;

runMain(async () => {
  const command = new Command('logic-version')
    .description('Versions of the code that writes the index and the listing.')
    .addArgument(new Argument('[answer]', 'what the author says of the change').choices(['same', 'raised']))
    .addArgument(new Argument('[logic]', 'of which; default: all that changed').choices(LOGIC_NAMES))
    .addHelpText('after', HELP)
    .parse();
  const [answer, only] = command.processedArgs as [string | undefined, LogicName | undefined];
  for (const name of only === undefined ? LOGIC_NAMES : [only]) {
    if (answer !== undefined) giveLogicVersion(name, answer === 'raised');
    process.stdout.write(`${name} logic: version ${logicVersion(name)}\n`);
  }
});
