import { useEffect, useState } from 'preact/hooks';

/** Gives the value of a colour variable of the style sheet in the present scheme, since a canvas takes no variables. */
export function colorOf(box: Element, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Whether the scheme is dark. A canvas needs it because it does not follow the style sheet by itself. */
export function useScheme(): boolean {
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setDark(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isDark;
}
