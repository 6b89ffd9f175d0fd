import { BundleState } from '../../builders/submit/bundle/bundle-state.ts';
import { EndpointQueues } from '../../builders/submit/queue/endpoint-queue.ts';
import type { Submission } from '../../builders/submit/quote-update.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { Mocks, Rig } from './rig.ts';

/**
 * Queues a submission for one builder alone, as an API process does. By its arrival it may have more time than one that
 * comes over HTTP, for which a busy machine may take longer than three seconds.
 */
export async function queueSubmission(
  { redis, keys }: Pick<Rig, 'redis' | 'keys'>,
  mocks: Mocks,
  builder: string,
  submission: Submission,
): Promise<void> {
  const endpointId = mocks.endpointId(builder);
  if (builder === 'bundle') await new BundleState(redis, keys, endpointId).enqueue(submission, Date.now());
  const queues = new EndpointQueues(redis, keys.prefix, createLogger('test', 'silent'));
  await queues.add(endpointId, submission);
  await queues.close();
}
