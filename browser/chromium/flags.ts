import { statfsSync } from 'node:fs';
import type { ChromePolicy } from './policy.ts';

/** What decides how a Chromium is started. Two launches with equal choices can stand in for each other. */
export interface LaunchChoices {
  headless: boolean;
  stealth: boolean;
  kioskMode: boolean;
  /** Enterprise policies of the session's own; null for none. */
  policy: ChromePolicy | null;
}

/** What else its command line holds. */
export interface FlagInput {
  choices: LaunchChoices;
  userDataDir: string;
  /** The guarded way out; nothing leaves the browser but through it. */
  egressProxyUrl: string;
  noSandbox: boolean;
  viewport: { width: number; height: number };
  /** User agent without the word "Headless"; null leaves Chromium's own. */
  userAgent: string | null;
}

/** Height of the tab strip and address bar, which the window of a headless Chromium keeps room for, in pixels. */
const WINDOW_CHROME_HEIGHT = 87;
/** Below this much shared memory (64 MB is usual in containers) Chromium's renderers crash on large pages. */
const MIN_SHARED_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Background work that would talk to somebody, cost time, or get in the way of whoever drives the browser. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-field-trial-config',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
];

/** Pages behave the same whether somebody looks or not, and take input before they have painted. */
const STEADY = [
  '--allow-pre-commit-input',
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-renderer-backgrounding',
  '--enable-unsafe-swiftshader',
  '--lang=en-US',
];

const DISABLED_FEATURES = [
  // Address-bar pop-ups that are pages of their own: clients would see them, and each costs a process.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AiModeOmniboxEntryPoint',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PasswordLeakDetection',
  'Prerender2',
  'Translate',
];

/**
 * Everything that could reach the network past the proxy is shut: loopback is not exempt from it, UDP (QUIC, WebRTC) is
 * off, and the browser resolves no name itself but the proxy's.
 */
function egressFlags(proxyUrl: string): string[] {
  return [
    `--proxy-server=${proxyUrl}`,
    '--proxy-bypass-list=<-loopback>',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyUrl).hostname}`,
    '--dns-prefetch-disable',
  ];
}

/** The command line of one Chromium. */
export function chromiumFlags(input: FlagInput): string[] {
  const { choices, viewport } = input;
  const windowHeight = viewport.height + (choices.kioskMode ? 0 : WINDOW_CHROME_HEIGHT);
  return [
    ...QUIET,
    ...STEADY,
    ...egressFlags(input.egressProxyUrl),
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    `--user-data-dir=${input.userDataDir}`,
    // The pipe is ours and ends the browser with us; the port serves the clients that the websocket proxy lets in.
    '--remote-debugging-pipe',
    '--remote-debugging-port=0',
    ...(choices.headless
      ? ['--headless=new', `--screen-info={${String(viewport.width)}x${String(windowHeight)}}`]
      : ['--window-position=0,0']),
    `--window-size=${String(viewport.width)},${String(choices.headless ? windowHeight : viewport.height)}`,
    ...(choices.kioskMode ? ['--kiosk'] : []),
    ...(choices.stealth ? ['--disable-blink-features=AutomationControlled'] : []),
    ...(input.userAgent === null ? [] : [`--user-agent=${input.userAgent}`]),
    // Without the test type, a bar that warns of such flags would take 56 pixels off every page, with or without a sandbox.
    '--test-type',
    ...(input.noSandbox ? ['--no-sandbox', '--disable-setuid-sandbox'] : []),
    ...(hasSmallSharedMemory() ? ['--disable-dev-shm-usage'] : []),
    'about:blank',
  ];
}

function hasSmallSharedMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize < MIN_SHARED_MEMORY_BYTES;
  } catch {
    // No such folder: not Linux.
    return false;
  }
}
