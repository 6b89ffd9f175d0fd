import { LRUCache } from 'lru-cache';
import { type Hex, zeroHash } from 'viem';
import { z } from 'zod';
import { ResultCache } from '../../runtime/result-cache.ts';
import { blockOfLogs, type NodeAnswer, type NodeQuestion } from './answer-request.ts';
import { INDEXED_TOPICS } from './indexed-topics.ts';

const Text = z.custom<Hex>((value) => typeof value === 'string');
/** A header with the fields that Ponder needs. */
export const PonderHeader = z.looseObject({
  hash: Text,
  number: Text,
  timestamp: Text,
  parentHash: z.string(),
  logsBloom: z.string(),
});

export type PonderHeader = z.infer<typeof PonderHeader>;

/** Asks the nodes of the chain. */
type Ask = (question: NodeQuestion) => Promise<NodeAnswer>;

/** More heads than Ponder reads at a time. */
const REMEMBERED_HEADS = 64;
const NO_LOGS_BLOOM = `0x${'0'.repeat(512)}`;

const WholeBlock = z.tuple([z.string(), z.literal(true)]);
const Logs = z.array(z.looseObject({ topics: z.array(z.string()) }));

/** The response of a node to a request for the logs of a block, and the logs in it that may be indexed. */
interface LogsAnswer {
  readonly answer: NodeAnswer;
  /** Undefined while the logs are unknown, because the request failed or the node lags. */
  readonly indexed: readonly unknown[] | undefined;
}

/**
 * Remembers the heads of a chain that were sent to Ponder. For each head, Ponder requests the whole block and its logs
 * at the same time. When no log may be indexed, Ponder gets the header in place of the block, without logs and
 * transactions. Such a head costs one call.
 */
export class NewBlocks {
  readonly #heads = new LRUCache<string, PonderHeader>({ max: REMEMBERED_HEADS });
  readonly #logs = new ResultCache<LogsAnswer>(REMEMBERED_HEADS);
  /** Number of the head that was sent last; undefined while none are sent. */
  #newest: Hex | undefined;

  sent(header: PonderHeader): void {
    this.#newest = header.number;
    if (!this.#heads.has(header.hash)) this.#heads.set(header.hash, header);
  }

  /**
   * Whether a head was sent before, and a higher one since. A node that lags gave it: to Ponder it would be a
   * reorganisation, which undoes the blocks above it. By its number alone, a node that once lied would stop the chain.
   */
  isPassed({ hash, number }: PonderHeader): boolean {
    return this.#heads.has(hash) && this.#newest !== undefined && BigInt(number) < BigInt(this.#newest);
  }

  /** No more heads are sent. */
  ended(): void {
    this.#newest = undefined;
  }

  /**
   * Makes a call at `latest` one at the head that was sent last. A node that lags would answer as if a new contract had
   * no code, which would stay in the index. It refuses a call at a block that it lacks, and the next node is asked.
   */
  atNewestHead(question: NodeQuestion): NodeQuestion {
    const [call, block] = question.params;
    if (question.method !== 'eth_call' || block !== 'latest' || this.#newest === undefined) return question;
    return { ...question, params: [call, this.#newest] };
  }

  async answer(ask: Ask, question: NodeQuestion): Promise<NodeAnswer> {
    const head = this.#heads.get(blockOfLogs(question) ?? wholeBlock(question) ?? zeroHash);
    if (!head) return ask(question);
    const { answer, indexed } = await this.#logs.get(head.hash, () => readLogs(ask, head), keepKnown);
    if (question.method === 'eth_getLogs') return indexed ? { result: indexed } : answer;
    if (indexed?.length !== 0) return ask(question);
    return { result: { ...head, logsBloom: NO_LOGS_BLOOM, transactions: [] } };
  }
}

/** Logs that are still unknown are not kept, so that they are requested again. */
const keepKnown = ({ indexed }: LogsAnswer): number => (indexed ? Number.POSITIVE_INFINITY : 0);

async function readLogs(ask: Ask, { hash, number, logsBloom }: PonderHeader): Promise<LogsAnswer> {
  const answer = await ask({ method: 'eth_getLogs', params: [{ blockHash: hash }], blockNumber: number });
  const logs = 'result' in answer ? Logs.safeParse(answer.result).data : undefined;
  // A node that lags may return no logs. Ponder detects that by the bloom filter and asks again.
  const isIncomplete = logs?.length === 0 && logsBloom !== NO_LOGS_BLOOM;
  const indexed = logs?.filter(({ topics: [topic] }) => topic !== undefined && INDEXED_TOPICS.has(topic));
  return { answer, indexed: isIncomplete ? undefined : indexed };
}

/** Hash of the block that a question asks for with all its transactions; undefined for any other question. */
function wholeBlock({ method, params }: NodeQuestion): string | undefined {
  return method === 'eth_getBlockByHash' ? WholeBlock.safeParse(params).data?.[0] : undefined;
}
