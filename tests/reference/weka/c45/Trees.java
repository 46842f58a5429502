import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.Utils;

/**
 * Prints J48's tree of each ARFF file, the seconds of the quickest of some builds, and on request the class probabilities of its
 * rows. Arguments: options of J48 in one string, number of builds, whether to print probabilities, files.
 */
public class Trees {
    public static void main(String[] arguments) throws Exception {
        for (int i = 3; i < arguments.length; i++) {
            Instances data = new Instances(new FileReader(arguments[i]));
            data.setClassIndex(data.numAttributes() - 1);
            double seconds = Double.POSITIVE_INFINITY;
            J48 tree = null;
            for (int repeat = 0; repeat < Integer.parseInt(arguments[1]); repeat++) {
                tree = new J48();
                tree.setOptions(Utils.splitOptions(arguments[0]));
                long start = System.nanoTime();
                tree.buildClassifier(data);
                seconds = Math.min(seconds, (System.nanoTime() - start) / 1e9);
            }
            System.out.println("@file " + arguments[i]);
            System.out.println("@seconds " + seconds);
            System.out.println("@tree" + tree.toString().replaceFirst("J48 (un)?pruned tree\n-+\n", ""));
            for (int row = 0; Boolean.parseBoolean(arguments[2]) && row < data.numInstances(); row++) {
                StringBuilder line = new StringBuilder("@row");
                for (double probability : tree.distributionForInstance(data.instance(row))) {
                    line.append(' ').append(probability);
                }
                System.out.println(line);
            }
        }
    }
}
