//! Where things lie on this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::ConfigError;
use super::file::File;

/// Files and folders of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Database, uploads, checkpoints, results.
    pub data_dir: PathBuf,
    /// The SQLite file.
    pub database_file: PathBuf,
    /// Model files.
    pub models_dir: PathBuf,
    /// Folders of add-ons that came with the host; empty where none was found.
    pub built_in_addons: Vec<PathBuf>,
    /// Further folders of add-ons, in the order in which they are read.
    pub addon_folders: Vec<PathBuf>,
    /// Compiled add-ons: native code, writable by nobody else.
    pub compiled_addons_dir: PathBuf,
}

impl Paths {
    /// Folders of add-ons that were named and are not there; that in the data folder need not be.
    pub fn missing_addon_folders(&self) -> impl Iterator<Item = &Path> {
        let usual = self.data_dir.join("addons");
        let folders = self.addon_folders.iter().map(PathBuf::as_path);
        folders.filter(move |folder| *folder != usual && !folder.is_dir())
    }

    pub(super) fn resolve(
        file: &File,
        extra_folders: Vec<PathBuf>,
        environment: &Environment,
        executable: Option<&Path>,
    ) -> Result<Self, ConfigError> {
        for (name, folder) in [
            ("data_dir", &file.data_dir),
            ("models_dir", &file.models_dir),
            ("compiled_addons_dir", &file.compiled_addons_dir),
        ] {
            if folder.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
                return Err(ConfigError::invalid(name, "must name a folder, or be left out"));
            }
        }
        let data_dir = match &file.data_dir {
            Some(folder) => folder.clone(),
            None => user_folder(environment, "XDG_DATA_HOME", ".local/share", "data_dir")?.join("tympan"),
        };
        let models_dir = match &file.models_dir {
            Some(folder) => folder.clone(),
            None => user_folder(environment, "XDG_CACHE_HOME", ".cache", "models_dir")?.join("tympan/models"),
        };
        let mut addon_folders = vec![data_dir.join("addons")];
        addon_folders.extend(file.addons.folders.iter().cloned());
        addon_folders.extend(extra_folders);
        let built_in_addons: Vec<PathBuf> = executable.and_then(built_in_addons).into_iter().collect();
        let addon_folders = without_repetitions(&built_in_addons, addon_folders);
        Ok(Self {
            compiled_addons_dir: match &file.compiled_addons_dir {
                Some(folder) => folder.clone(),
                None => data_dir.join("compiled-addons"),
            },
            database_file: database_file(file.database_url.as_deref(), &data_dir)?,
            data_dir,
            models_dir,
            built_in_addons,
            addon_folders,
        })
    }
}

/// A folder that is reached twice, in whatever spelling, would hold nothing but names that are
/// taken.
fn without_repetitions(earlier: &[PathBuf], folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let mut seen: BTreeSet<PathBuf> = earlier.iter().map(real).collect();
    folders.into_iter().filter(|folder| seen.insert(real(folder))).collect()
}

fn user_folder(
    environment: &Environment,
    variable: &str,
    below_home: &str,
    setting: &str,
) -> Result<PathBuf, ConfigError> {
    environment
        .path(variable)
        .filter(|folder| folder.is_absolute())
        .or_else(|| environment.path("HOME").map(|home| home.join(below_home)))
        .ok_or_else(|| ConfigError::invalid(setting, "must be set where there is no home folder"))
}

fn database_file(url: Option<&str>, data_dir: &Path) -> Result<PathBuf, ConfigError> {
    let Some(url) = url else { return Ok(data_dir.join("tympan.db")) };
    let path = url.strip_prefix("sqlite:").map(|rest| rest.strip_prefix("//").unwrap_or(rest));
    match path {
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        _ => Err(ConfigError::invalid("database_url", "must have the form sqlite:PATH")),
    }
}

/// The folder `addons` beside the executable, or beside the folder that holds it: the first
/// is how an archive is unpacked, the second how a build leaves them.
fn built_in_addons(executable: &Path) -> Option<PathBuf> {
    executable.ancestors().skip(1).take(2).map(|folder| folder.join("addons")).find(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(file: &File, environment: &[(&str, &str)]) -> Result<Paths, ConfigError> {
        Paths::resolve(file, Vec::new(), &Environment::of(environment), None)
    }

    #[test]
    fn without_settings_the_users_folders_are_taken() {
        let paths = resolve(&File::default(), &[("HOME", "/h")]).unwrap();
        assert_eq!(paths.data_dir, Path::new("/h/.local/share/tympan"));
        assert_eq!(paths.models_dir, Path::new("/h/.cache/tympan/models"));
        assert_eq!(paths.database_file, Path::new("/h/.local/share/tympan/tympan.db"));
        assert_eq!(paths.addon_folders, [PathBuf::from("/h/.local/share/tympan/addons")]);
        assert_eq!(paths.compiled_addons_dir, Path::new("/h/.local/share/tympan/compiled-addons"));

        let paths = resolve(&File::default(), &[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]).unwrap();
        assert_eq!(paths.models_dir, Path::new("/c/tympan/models"));
    }

    #[test]
    fn without_a_home_the_folder_to_set_is_named() {
        let error = resolve(&File::default(), &[]).unwrap_err();
        assert_eq!(error.to_string(), "data_dir must be set where there is no home folder");
    }

    #[test]
    fn a_folder_that_is_reached_twice_is_read_once_and_a_missing_one_is_known() {
        let root = tempfile::tempdir().unwrap();
        let (built_in, own) = (root.path().join("addons"), root.path().join("own"));
        std::fs::create_dir(&built_in).unwrap();
        std::fs::create_dir(&own).unwrap();
        let (again, absent) = (root.path().join("own/../addons"), root.path().join("absent"));
        let extra = vec![own.clone(), again, own.join("."), absent.clone(), built_in.clone()];
        let environment = Environment::of(&[("HOME", "/nowhere")]);
        let executable = root.path().join("tympan");
        let paths = Paths::resolve(&File::default(), extra, &environment, Some(&executable)).unwrap();
        assert_eq!(paths.built_in_addons, [built_in]);
        assert_eq!(paths.addon_folders[1..], [own, absent.clone()]);
        assert_eq!(paths.missing_addon_folders().collect::<Vec<_>>(), [absent]);
    }

    #[test]
    fn database_urls_of_other_systems_are_refused() {
        let data_dir = Path::new("/d");
        assert_eq!(database_file(Some("sqlite:/x.db"), data_dir).unwrap(), Path::new("/x.db"));
        assert_eq!(database_file(Some("sqlite:///x.db"), data_dir).unwrap(), Path::new("/x.db"));
        for url in ["postgres://h/d", "sqlite:", "sqlite://", ""] {
            assert!(database_file(Some(url), data_dir).is_err(), "{url}");
        }
    }

    #[test]
    fn built_ins_lie_beside_the_executable_or_above_it() {
        let root = tempfile::tempdir().unwrap();
        let executable = root.path().join("release/tympan");
        assert_eq!(built_in_addons(&executable), None);
        std::fs::create_dir_all(root.path().join("addons")).unwrap();
        assert_eq!(built_in_addons(&executable), Some(root.path().join("addons")));
        std::fs::create_dir_all(root.path().join("release/addons")).unwrap();
        assert_eq!(built_in_addons(&executable), Some(root.path().join("release/addons")));
    }
}
