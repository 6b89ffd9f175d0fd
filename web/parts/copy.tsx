import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

/** Copies a text. Without a secure origin, the old command is the browser's only access to the clipboard. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = Object.assign(document.createElement('textarea'), { value: text, className: 'offscreen' });
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

/** A button is named by its label, or shows it. */
type Props = { readonly text: string; readonly label: string; readonly isNamed?: boolean };

export function CopyButton({ text, label, isNamed = false }: Props) {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => say(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const onClick = async () => say((await copy(text)) ? 'copied' : 'not copied');
  return (
    <button type="button" class="copy" aria-label={isNamed ? undefined : label} onClick={onClick}>
      <span aria-live="polite">{said ?? (isNamed ? label : 'copy')}</span>
    </button>
  );
}

type HexProps = { readonly value: string; readonly href?: string | undefined; readonly label: string };

/** Shows an address or hash: short, in full on hover, linked to where it is explained, with a button to copy it. */
export function Hex({ value, href, label }: HexProps) {
  const short = `${value.slice(0, 8)}…${value.slice(-6)}`;
  return (
    <span class="hex">
      {href === undefined ? (
        <code title={value}>{short}</code>
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer" title={value}>
          <code>{short}</code>
        </a>
      )}
      <CopyButton text={value} label={`Copy ${label}`} />
    </span>
  );
}

/** The request that shows the same as the page. */
export function CurlBox({ line }: { readonly line: string }) {
  return (
    <div class="curl">
      <pre>
        <code>{line}</code>
      </pre>
      <CopyButton text={line} label="Copy the curl command" />
    </div>
  );
}
