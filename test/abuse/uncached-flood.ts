import { randomBytes, randomInt } from 'node:crypto';
import { type Address, bytesToHex } from 'viem';
import { runMain } from '../../runtime/run-main.ts';
import { createJudge } from './judge.ts';
import { answerOrders } from './order-process.ts';
import { sendPaced } from './paced.ts';
import type { AbuseRequest } from './requests.ts';
import { createSender } from './send.ts';

/** Asks for so long. */
export interface FloodOrder {
  readonly port: number;
  readonly chainIds: readonly number[];
  readonly seconds: number;
}

export interface FloodResult {
  /** Answers a second. */
  readonly rate: number;
  /** Answers that are not as documented, and broken connections. A page that takes too long may be 503. */
  readonly broken: number;
}

/** Clients without a key that send uncached requests, each as fast as the default quota of the listing allows. */
const ANONYMOUS = 10;
const PER_SECOND = ANONYMOUS * 20;
const MAX_OPEN = 100;
const ADDRESSES = 100;
const DEEPEST = 50_000;

/** A separate process: it stands for other machines. */
runMain(async () => answerOrders(flood));

async function flood({ port, chainIds, seconds }: FloodOrder): Promise<FloodResult> {
  const sender = createSender(port, MAX_OPEN);
  const judge = createJudge([]);
  let broken = 0;
  const isFaulty = async (request: AbuseRequest, client: string) => {
    const answer = await sender.send(request, client);
    return judge.faults(answer, { text: request.target, isHead: false }).length > 0;
  };
  const send = async (number: number) => {
    const request = uncachedRequest(number, chainIds);
    if (await isFaulty(request, `198.51.100.${number % ANONYMOUS}`).catch(() => true)) broken += 1;
  };
  const goesOn = (_: number, passed: number) => passed < seconds;
  const rate = await sendPaced({ perSecond: PER_SECOND, maxOpen: MAX_OPEN, goesOn }, send);
  sender.close();
  return { rate, broken };
}

/** Alternately: unknown addresses, unknown keys, deep offsets, rare filters and searches, unknown pools. */
function uncachedRequest(number: number, chainIds: readonly number[]): AbuseRequest {
  const base = `/public/v1/evm/${chainIds[number % chainIds.length]}`;
  const targets = [
    () => `${base}/metadata?addresses=${Array.from({ length: ADDRESSES }, unknownAddress).join()}`,
    () => `${base}/metadata`,
    () => `${base}/metadata?minTvlFiat=0&sortBy=created&offset=${randomInt(DEEPEST)}`,
    () => `${base}/metadata?minTvlFiat=${Math.random()}&sortBy=apr&tier=red&lockedPricingOnly=true`,
    () => `${base}/metadata?minTvlFiat=0&search=${randomBytes(2).toString('hex')}`,
    () => `${base}/${unknownAddress()}/bid_ask`,
  ];
  const kind = number % targets.length;
  const headers = kind === 1 ? [['Authorization', `Bearer ${unknownKey()}`] as const] : [];
  return { kind: 'uncached', method: 'GET', target: targets[kind]?.() ?? base, headers, body: null };
}

const unknownAddress = (): Address => bytesToHex(randomBytes(20));
const unknownKey = () => `ptd_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`;
