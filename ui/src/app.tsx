import { lazy, Suspense, useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { key } from "./api/key";
import { useApprovals, useFeed, useProfiles, useWhoami } from "./api/queries";
import styles from "./app.module.css";
import { Login } from "./pages/login";
import { Profiles } from "./pages/profiles";
import { Badge, Empty, Loaded, Loading } from "./parts/parts";

const Profile = lazy(() => import("./pages/profile/profile").then((m) => ({ default: m.ProfilePage })));
const Delegation = lazy(() => import("./pages/more").then((m) => ({ default: m.Delegation })));
const ByFile = lazy(() => import("./pages/more").then((m) => ({ default: m.ByFile })));
const NewSession = lazy(() => import("./pages/new/new").then((m) => ({ default: m.NewSession })));
const Edit = lazy(() => import("./pages/edit/edit").then((m) => ({ default: m.EditPage })));
const Sessions = lazy(() => import("./pages/sessions").then((m) => ({ default: m.Sessions })));
const Session = lazy(() => import("./pages/session/session").then((m) => ({ default: m.SessionPage })));
const Approvals = lazy(() => import("./pages/approvals").then((m) => ({ default: m.Approvals })));
const Rig = lazy(() => import("./pages/more").then((m) => ({ default: m.RigPage })));
const Usage = lazy(() => import("./pages/more").then((m) => ({ default: m.Usage })));
const Keys = lazy(() => import("./pages/more").then((m) => ({ default: m.Keys })));
const Audit = lazy(() => import("./pages/more").then((m) => ({ default: m.Audit })));
const Models = lazy(() => import("./pages/more").then((m) => ({ default: m.Models })));
const Doctor = lazy(() => import("./pages/more").then((m) => ({ default: m.Doctor })));

export function App() {
  const refused = useSyncExternalStore(key.subscribe, key.refused);
  const profiles = useProfiles();
  const [location] = useLocation();
  // A session has a stream of its own, and browsers have but six for all windows.
  useFeed(profiles.data !== undefined && !location.startsWith("/sessions/"));
  if (refused) return <Login tried={key.get() !== null} />;
  return (
    <Frame>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/">
            <Redirect to="/profiles" replace />
          </Route>
          <Route path="/profiles" component={Profiles} />
          <Route path="/profiles/:name/:tab?">{(p) => <Profile name={decoded(p.name)} tab={p.tab ?? "spec"} />}</Route>
          <Route path="/edit/:path">{(p) => <Edit path={decoded(p.path)} />}</Route>
          <Route path="/delegation" component={Delegation} />
          <Route path="/diagnostics" component={ByFile} />
          <Route path="/new/:profile">{(p) => <NewSession profile={decoded(p.profile)} />}</Route>
          <Route path="/sessions" component={Sessions} />
          <Route path="/sessions/:id">{(p) => <Session id={decoded(p.id)} />}</Route>
          <Route path="/approvals" component={Approvals} />
          <Route path="/rig/:name?/:tab?">
            {(p) => <Rig name={p.name && decoded(p.name)} tab={p.tab ?? "knots"} />}
          </Route>
          <Route path="/usage" component={Usage} />
          <Route path="/models" component={Models} />
          <Route path="/keys">
            <ForAdmins>
              <Keys />
            </ForAdmins>
          </Route>
          <Route path="/audit">
            <ForAdmins>
              <Audit />
            </ForAdmins>
          </Route>
          <Route path="/doctor" component={Doctor} />
          <Route>
            <Empty>There is no such page.</Empty>
          </Route>
        </Switch>
      </Suspense>
    </Frame>
  );
}

// decoded reads a part of an address, which may have a % that stands for itself.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Frame({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  const admin = useWhoami().data?.roles.includes("admin") ?? false;
  const [open, setOpen] = useState(false);
  const [shown, setShown] = useState(location);
  if (shown !== location) {
    setShown(location);
    setOpen(false); // somebody has chosen
  }
  useEffect(() => {
    document.title = titleOf(location);
  }, [location]);
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header className={styles.head}>
        <Link href="/profiles" className={styles.brand}>
          <img src="/favicon.svg" alt="" width="24" height="24" /> Roster
        </Link>
        <button className={styles.menu} aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>
          Menu
        </button>
      </header>
      <nav id="places" className={`${styles.nav} ${open ? styles.open : ""}`} aria-label="Pages">
        <Place href="/profiles">Profiles</Place>
        <Place href="/sessions">Sessions</Place>
        <Place href="/approvals">
          Approvals <Waiting />
        </Place>
        <Place href="/rig">Rig</Place>
        <Place href="/usage">Usage</Place>
        <Place href="/models">Models</Place>
        <Place href="/doctor">Doctor</Place>
        {admin && (
          <>
            <Place href="/keys">Keys</Place>
            <Place href="/audit">Audit</Place>
          </>
        )}
        <Theme />
      </nav>
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

// ForAdmins shows a page to administrators, and says to others that it is for those. The
// server refuses them what is on it.
function ForAdmins({ children }: { children: ReactNode }) {
  const who = useWhoami();
  return (
    <Loaded of={who}>
      {({ roles }) =>
        roles.includes("admin") ? (
          children
        ) : (
          <Empty>
            This page is for the role admin. Your key has {roles.length > 0 ? roles.join(", ") : "no role"}: an
            administrator makes one that has more with <code>roster keys add</code>.
          </Empty>
        )
      }
    </Loaded>
  );
}

// skip goes to the content: the fragment of the address says which page is shown.
function skip(e: { preventDefault: () => void }) {
  e.preventDefault();
  document.getElementById("main")?.focus();
}

function titleOf(location: string): string {
  const [, page = "", name] = location.split("/");
  const title = page.charAt(0).toUpperCase() + page.slice(1);
  return (name ? `${decoded(name)} · ` : "") + (title ? `${title} · ` : "") + "Roster";
}

function Place({ href, children }: { href: string; children: ReactNode }) {
  const [location] = useLocation();
  const here = location === href || location.startsWith(href + "/");
  return (
    <Link href={href} aria-current={here ? "page" : undefined}>
      {children}
    </Link>
  );
}

function Waiting() {
  const { data } = useApprovals();
  return data && data.length > 0 ? <Badge tone="warn">{data.length}</Badge> : null;
}

const themes = ["system", "light", "dark"] as const;

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("roster-theme") ?? "system");
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem("roster-theme", theme);
  }, [theme]);
  return (
    <label className={styles.theme}>
      Theme
      <select value={theme} onChange={(e) => setTheme(e.target.value)}>
        {themes.map((t) => (
          <option key={t}>{t}</option>
        ))}
      </select>
    </label>
  );
}
