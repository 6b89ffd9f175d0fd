import { startOwnProcess } from '../services/own-process.ts';
import { ServiceError } from '../services/service-error.ts';
import { START_AGAIN } from './keep-running.ts';
import { type ProcessPart, type ProcessStart, startProcess } from './processes.ts';

/** How the indexer rejects an index. */
const OTHER_CODE = /"npm run backfill" builds a new index$/m;
const BEGUN = /^(Filling|Resuming) /m;

/**
 * Starts the indexer. When it rejects the index that serves, since its logic or the chains file changed, a backfill takes
 * its place, and ends when readers have turned to a new index: then the indexer is to be started again.
 *
 * @param backfillEnv settings of the backfill
 */
export async function startIndexer(start: ProcessStart, backfillEnv: ProcessStart['env']): Promise<ProcessPart> {
  try {
    return await startProcess(start);
  } catch (error) {
    if (!(error instanceof ServiceError && OTHER_CODE.test(error.log))) throw error;
  }
  const main = 'backfill';
  const backfill = await startOwnProcess({ main, env: backfillEnv, ready: BEGUN, output: start.logOf(main) });
  return {
    ...backfill,
    ended: backfill.ended.then((how) => (how === 'exit code 0' ? START_AGAIN : how)),
    url: '',
    note: 'its logic or the chains changed: backfill fills a new index, the old one serves as it stands',
  };
}
