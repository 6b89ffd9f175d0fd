import { createRequire } from 'node:module';
import { ServiceError } from '../local/services/service-error.ts';
import { type ServiceProcess, startService } from '../local/services/service-process.ts';
import { createTempFolder } from '../local/services/temp-folder.ts';

export interface AnvilOptions {
  readonly chainId: number;
  /** Seconds between blocks; without it every transaction is mined at once. */
  readonly blockTimeSecs?: number;
  /** A free one is taken when it is not given. */
  readonly port?: number;
  /** Blocks whose state can be read, counted back from the head: about half a megabyte of memory each. */
  readonly keptStates?: number;
  /** Further command-line arguments, as `--hardfork cancun`. */
  readonly args?: readonly string[];
}

export interface Anvil extends ServiceProcess {
  readonly url: string;
  readonly port: number;
}

const LISTENING = /Listening on 127\.0\.0\.1:(\d+)/;

/**
 * Starts a local EVM node on the loopback interface.
 *
 * Asked by block hash at its head while it mines, it rarely answers a call with the state of the next block, and
 * rightly when asked again: the demo may show a pool as it is a block later, and tests that compare with a block mine
 * by `RpcProxy.quietly`. Reads mix no blocks by themselves: `test/stream/stream-blocks.test.ts` shows that.
 *
 * @throws ServiceError when it does not come up
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId, blockTimeSecs, port = 0, keptStates = 2_000, args = [] } = options;
  const command = anvilBinary();
  // Where anvil keeps files at all: one in the home folder would survive a crash.
  const cache = await createTempFolder('anvil');
  const service = await startService({
    name: `anvil (chain ${chainId})`,
    command,
    args: [
      '--chain-id',
      String(chainId),
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--cache-path',
      cache.path,
      // By default anvil writes every old state to disk: megabytes per block, without end.
      '--prune-history',
      String(keptStates),
      ...(blockTimeSecs === undefined ? [] : ['--block-time', String(blockTimeSecs)]),
      ...args,
    ],
    ready: LISTENING,
    stopSignal: 'SIGINT',
    afterEnd: cache.remove,
  });
  const listening = Number(LISTENING.exec(service.recentOutput())?.[1]);
  return { ...service, port: listening, url: `http://127.0.0.1:${listening}` };
}

/** The native binary rather than npm's script, which would stand between us and the process to signal. */
function anvilBinary(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const shim = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  try {
    return shim.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`);
  } catch (cause) {
    const hint = 'run "npm ci" without --omit=optional';
    throw new ServiceError(`no anvil binary for ${process.platform} ${process.arch}: ${hint}`, '', { cause });
  }
}
