import { once } from 'node:events';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../../test/abuse/order-process.ts';
import { sendPaced } from '../../test/abuse/paced.ts';
import { malformedMessage } from '../../test/takers/malformed.ts';

/** Opens WebSockets, says what they got since they were last counted, or sends malformed calls at a pace. */
export type ClientOrder =
  | { readonly do: 'open'; readonly url: string; readonly connections: number; readonly isCompressed?: boolean }
  | { readonly do: 'count' }
  | { readonly do: 'close' }
  | { readonly do: 'attack'; readonly url: string; readonly messages: number; readonly perSecond: number };

export interface Counted {
  /** Frames of all connections, and the bytes of the last one. */
  readonly frames: number;
  readonly bytes: number;
}
/** Responses by HTTP status or code of JSON-RPC. */
export type Seen = Readonly<Record<string, number>>;

const MAX_OPEN = 32;
const sockets = new Set<WebSocket>();
let [frames, bytes] = [0, 0];

/** A separate process: it stands for other machines. */
runMain(async () => answerOrders<ClientOrder>(obey));

async function obey(order: ClientOrder): Promise<unknown> {
  if (order.do === 'open') return open(order);
  if (order.do === 'attack') return attack(order);
  if (order.do === 'close') for (const socket of sockets) socket.terminate();
  const counted: Counted = { frames, bytes };
  frames = 0;
  return counted;
}

async function open({ url, connections, isCompressed = false }: Extract<ClientOrder, { do: 'open' }>): Promise<void> {
  while (sockets.size < connections) {
    const batch = Array.from(
      { length: Math.min(50, connections - sockets.size) },
      () => new WebSocket(url, { perMessageDeflate: isCompressed }),
    );
    await Promise.all(batch.map((socket) => once(socket, 'open')));
    for (const socket of batch) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('message', (data: Buffer) => {
        frames += 1;
        bytes = data.length;
      });
    }
  }
}

async function attack({ url, messages, perSecond }: Extract<ClientOrder, { do: 'attack' }>): Promise<Seen> {
  const random = seededRandom(28);
  const dispatcher = new Agent({ connections: MAX_OPEN });
  const seen: Record<string, number> = {};
  const send = async () => {
    const { statusCode, body } = await request(url, { method: 'POST', body: malformedMessage(random), dispatcher });
    const code = /"code":(-?\d+)/.exec(await body.text())?.[1] ?? '';
    const key = `${statusCode} ${code}`.trim();
    seen[key] = (seen[key] ?? 0) + 1;
  };
  await sendPaced({ perSecond, maxOpen: MAX_OPEN, goesOn: (sent) => sent < messages }, send);
  await dispatcher.close();
  return seen;
}
