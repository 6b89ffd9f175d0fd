import { Command } from 'commander';
import { EXIT_RETRY } from '../../config/app-error.ts';
import { runSupervised } from '../processes/run-supervised.ts';
import { type ChosenChains, chooseChains } from './choose-chains.ts';
import { assertOwner, openDataFolder } from './data-folder.ts';
import { lockFolder } from './folder-lock.ts';
import { startService } from './start-service.ts';
import { showSync } from './sync-display.ts';

const HELP = `
Starts Postgres, Redis, the indexer, the price capture, the builders worker and the API with its web page. What ends is
started again. Ctrl-C stops everything; the next start continues, and without options serves the same chains.

Examples:
  RPC_URL_8453=https://… npm start -- --chain base     one chain of config/mainnet.json
  npm start -- --chains my-chains.json                 all chains of a file of yours
  npm start                                            continues

Settings: PORT (3000) of the API, INDEXER_PORT (4206), HOST (127.0.0.1), DATABASE_URL and REDIS_URL for stores of yours,
and what the chains file names. Other commands: (. data/settings.sh && npm run status)
Exit codes: 0 stopped; 1 a wrong setting or a fault; ${EXIT_RETRY} try again: a store is unreachable.`;

const { data, ...chosen } = new Command('start')
  .description('Runs the whole service on this machine.')
  .option('--chain <name...>', 'chains to serve, by name or id', [])
  .option('--chains <file>', 'chains file; with --chain, default: config/mainnet.json')
  .option('--data <folder>', 'where everything is kept', './data')
  .addHelpText('after', HELP)
  .allowExcessArguments(false)
  .parse()
  .opts<ChosenChains & { readonly data: string }>();

await runSupervised({
  name: 'start',
  start: async (supervisor, progress) => {
    const folder = await openDataFolder(data);
    await assertOwner(folder);
    await lockFolder(folder.path);
    await chooseChains(folder, chosen);
    progress.print(`Starting the Pool Trading Data API, with its data in ${folder.path}\n`);
    const api = await startService(supervisor, progress, folder);
    progress.print(`\nFor the other commands: (. ${folder.settings} && npm run status)\nCtrl-C stops everything.\n`);
    await showSync(api, progress);
  },
});
