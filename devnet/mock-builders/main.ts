import { Command, InvalidArgumentError } from 'commander';
import { runMain } from '../../runtime/run-main.ts';
import { startMockBuilder } from './mock-builder.ts';

const HELP = `
Prints their URLs as JSON, one line each. To choose what one does, and to see what it got:
  curl -X PUT localhost:PORT/behaviour -d '{"kind":"slow-ack","delayMs":300}'
  curl localhost:PORT/received
Kinds: ack, slow-ack, reject, hanging, close-after, garbage, ack-twice, too-many-requests, already-known, http-status.`;

const command = new Command('mock-builders')
  .description('Starts one mock builder per port.')
  .argument('<port...>', '0 takes a free one', addPort)
  .addHelpText('after', HELP);

function addPort(text: string, before: readonly number[] = []): readonly number[] {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('not a port');
  return [...before, port];
}

runMain(async () => {
  const [ports] = command.parse().processedArgs as [readonly number[]];
  const builders = await Promise.all(ports.map((port) => startMockBuilder(port)));
  for (const { port, streamUrl, bundleUrl, relayerUrl } of builders) {
    process.stdout.write(`${JSON.stringify({ port, streamUrl, bundleUrl, relayerUrl })}\n`);
  }
  const stop = () => Promise.all(builders.map((builder) => builder.stop())).then(() => process.exit(0));
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
});
