import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { callFile } from '../calls/call.ts';
import { Button } from '../parts/button.tsx';
import { DialogBox } from '../parts/dialog.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { connectionWords as words } from '../words/connections.ts';

/** Opens the recording of a login: it is fetched as the person who is signed in, so it has no address to pass on. */
export function Replay({ sessionId, replayId }: { sessionId: string; replayId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>{words.replay}</Button>
      <DialogBox title={words.replay} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Film path={`/browsers/${sessionId}/replays/${replayId}`} />
        <div className="actions">
          <Button onPress={() => setOpen(false)}>{words.close}</Button>
        </div>
      </DialogBox>
    </>
  );
}

function Film({ path }: { path: string }): ReactNode {
  const film = useQuery({ queryKey: [path, 'film'], queryFn: () => callFile(path), gcTime: 0 });
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (film.data === undefined) return undefined;
    const made = URL.createObjectURL(film.data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [film.data]);
  if (film.isError) return <Failed error={film.error} retry={() => void film.refetch()} />;
  if (address === null) return <Loading />;
  return <video className="film" src={address} controls autoPlay muted />;
}
