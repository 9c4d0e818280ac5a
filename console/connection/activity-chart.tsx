import { type ReactNode, useEffect, useRef } from 'react';
import UPlot from 'uplot';
import type { ConnectionSummary } from '../../contract/connection-summary.ts';
import { language } from '../words/language.ts';
import { overviewWords as words } from '../words/overview.ts';

const HEIGHT = 220;
const HOUR_S = 3600;

/** Chart of checks and logins by hour, redrawn when colors or width change. */
export default function ActivityChart({ activity }: Pick<ConnectionSummary, 'activity'>): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    let chart: UPlot | null = null;
    const draw = (): void => {
      chart?.destroy();
      chart = new UPlot(optionsFor(box), dataOf(activity), box);
    };
    const resize = new ResizeObserver(() => chart?.setSize({ width: box.clientWidth, height: HEIGHT }));
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    draw();
    resize.observe(box);
    scheme.addEventListener('change', draw);
    return () => {
      resize.disconnect();
      scheme.removeEventListener('change', draw);
      chart?.destroy();
    };
  }, [activity]);
  return <div ref={place} className="chart" role="img" aria-label={words.chart} />;
}

/** The last 24 hours; hours without data count as zero. */
function dataOf(activity: ConnectionSummary['activity']): UPlot.AlignedData {
  const known = new Map(activity.map((hour) => [Date.parse(hour.hour) / 1000, hour]));
  const last = Math.floor(Date.now() / 1000 / HOUR_S) * HOUR_S;
  const hours = Array.from({ length: 24 }, (_, index) => last - (23 - index) * HOUR_S);
  const row = (name: 'checks' | 'expired' | 'logins' | 'failed_logins'): number[] =>
    hours.map((hour) => known.get(hour)?.[name] ?? 0);
  return [hours, row('checks'), row('expired'), row('logins'), row('failed_logins')];
}

function optionsFor(box: HTMLElement): UPlot.Options {
  const style = getComputedStyle(box);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  };
  const line = (label: string, name: string, dash?: number[]): UPlot.Series => ({
    label,
    stroke: colour(name),
    width: 2,
    points: { size: 5 },
    ...(dash === undefined ? {} : { dash }),
  });
  const hourOf = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
  const nameOf = (seconds: number): string => hourOf.format(new Date(seconds * 1000));
  return {
    width: box.clientWidth,
    height: HEIGHT,
    // The table below shows the figures.
    legend: { live: false },
    axes: [
      { ...axis, values: (_chart, ticks) => ticks.map(nameOf) },
      { ...axis, incrs: [1, 5, 10, 50, 100, 500, 1000, 5000] },
    ],
    scales: { y: { range: (_chart, _low, high) => [0, Math.max(high, 4)] } },
    series: [
      {},
      line(words.checks, '--accent'),
      line(words.expired, '--wait', [6, 3]),
      line(words.logins, '--good', [2, 3]),
      line(words.failedLogins, '--bad', [8, 3, 2, 3]),
    ],
  };
}
