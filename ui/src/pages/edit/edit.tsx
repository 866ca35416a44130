import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { Loaded, Loading } from "../../parts/parts";

// What is edited is shown by an editor that is loaded where somebody edits.
const Desk = lazy(() => import("./desk").then((m) => ({ default: m.Desk })));

// EditPage edits a file of profiles, also one that does not load.
export function EditPage({ path }: { path: string }) {
  return (
    <>
      <p className="muted">
        <Link href="/profiles">Profiles</Link> /
      </p>
      <h1>
        <code>{path}</code>
      </h1>
      <EditFile path={path} />
    </>
  );
}

// EditTab edits the file of a profile.
export function EditTab({ profile }: { profile: Schemas["Profile"] }) {
  return <EditFile path={profile.source.file} />;
}

function EditFile({ path }: { path: string }) {
  const source = useQuery({
    queryKey: ["profiles", "source", path],
    queryFn: () => data(api.GET("/profiles/-/source", { params: { query: { path } } })),
  });
  const schema = useQuery({ queryKey: ["schema"], queryFn: () => data(api.GET("/schema")), staleTime: Infinity });
  return (
    <Loaded of={source}>
      {(s) => (
        <Loaded of={schema}>
          {(keys) => (
            <Suspense fallback={<Loading />}>
              <Desk key={s.path} source={s} schema={keys} />
            </Suspense>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
