import { copyFile } from 'node:fs/promises';
import { type BackfillBegin, INDEXER_MESSAGES } from '../../db/backfill-messages.ts';
import { exitText } from '../services/guarded-process.ts';
import { startOwnProcess } from '../services/own-process.ts';
import { keepRunning, START_AGAIN } from './keep-running.ts';
import { type ProcessPart, type ProcessStart, startProcess } from './processes.ts';

/** When readers turn to the new index, that of the old one ends too, seconds before the backfill does. */
const FOLLOW_AGAIN_MS = 30_000;

/**
 * Starts the indexer. When it rejects the index that serves, since its logic or the chains file changed, a backfill
 * takes its place, and ends when readers have turned to a new index: then the indexer is to be started again. Beside
 * the backfill, the old index goes on when only the chains file changed: that of the last start is kept beside it.
 *
 * @param backfillEnv settings of the backfill
 */
export async function startIndexer(start: ProcessStart, backfillEnv: ProcessStart['env']): Promise<ProcessPart> {
  const { CHAINS_CONFIG: chains = '' } = start.env;
  const indexedChains = `${chains}.indexed`;
  let last: unknown;
  try {
    const indexer = await startProcess({
      ...start,
      onMessage: (message) => {
        last = message;
      },
    });
    await copyFile(chains, indexedChains);
    return indexer;
  } catch (error) {
    if (last !== INDEXER_MESSAGES.otherCode) throw error;
  }
  const main = 'backfill';
  let begin: BackfillBegin | undefined;
  const backfill = await startOwnProcess({
    main,
    env: backfillEnv,
    ready: async () => begin !== undefined,
    onMessage: (message) => {
      begin ??= message as BackfillBegin;
    },
    output: start.logOf(main),
    signal: start.signal,
  });
  const asBefore = (stopped: AbortSignal) => ({
    ...start,
    env: { ...start.env, CHAINS_CONFIG: indexedChains },
    signal: AbortSignal.any([start.signal, stopped]),
  });
  const old = begin?.replaces
    ? await keepRunning((stopped) => startProcess(asBefore(stopped)), { rule: () => FOLLOW_AGAIN_MS }).catch(() => null)
    : null;
  const ended = backfill.ended.then(async (how) => {
    await old?.stop();
    return how === exitText(0) ? START_AGAIN : how;
  });
  return {
    ...backfill,
    ended,
    stop: async () => {
      await backfill.stop();
      await ended;
    },
    url: old?.url ?? '',
    note: `its logic or the chains changed: backfill fills a new index, the old one ${old ? 'goes on' : 'serves as it stands'}`,
  };
}
