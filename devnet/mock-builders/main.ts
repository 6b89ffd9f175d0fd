import { runMain } from '../../runtime/run-main.ts';
import { startMockBuilder } from './mock-builder.ts';

const HELP = `Usage: tsx devnet/mock-builders/main.ts [port...]

Starts one mock builder per port (0 takes a free one) and prints their URLs as JSON, one line each. To choose what one does:
  curl -X PUT localhost:PORT/behaviour -d '{"kind":"slow-ack","delayMs":300}'
Kinds: ack, slow-ack, reject, silent, close-after, too-many-requests, already-known, http-status.
`;

runMain(async () => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const builders = await Promise.all(args.map((port) => startMockBuilder(Number(port))));
  for (const { port, streamUrl, bundleUrl } of builders) {
    process.stdout.write(`${JSON.stringify({ port, streamUrl, bundleUrl })}\n`);
  }
  const stop = () => Promise.all(builders.map((builder) => builder.stop())).then(() => process.exit(0));
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
});
