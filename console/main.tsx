import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { CallError } from './calls/call.ts';
import { consumeLinkCodes } from './calls/session.ts';
import { fetchOverview } from './pages.ts';
import { parseAddress } from './scope/address.ts';
import { language } from './words/language.ts';

const codes = consumeLinkCodes();
/** Only calls that got no response or failed on the server are retried. */
const isTransient = (error: unknown): boolean =>
  error instanceof CallError && (error.status === 0 || error.status === 429 || error.status >= 500);
const client = new QueryClient({
  defaultOptions: { queries: { staleTime: 5000, retry: (failures, error) => failures < 2 && isTransient(error) } },
});

// Prefetch while the session is loading. If it fails, opening the page shows the error.
if (parseAddress(location.pathname).page === '') fetchOverview().catch(() => undefined);

const place = document.getElementById('console');
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <I18nProvider locale={language === 'de' ? 'de-DE' : 'en-US'}>
          <App codes={codes} />
        </I18nProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
